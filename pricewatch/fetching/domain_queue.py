"""A scheduler queue that returns only requests that can be sent soon, so slow domains block no others."""

from __future__ import annotations

from typing import Any

from scrapy.crawler import Crawler
from scrapy.http import Request
from scrapy.pqueues import DownloaderAwarePriorityQueue

from pricewatch.fetching.downloader import DomainDownloader


class DomainQueue(DownloaderAwarePriorityQueue):
    """Return requests of the domain with the fewest requests in progress, among those with capacity."""

    def __init__(self, crawler: Crawler, *args: Any, **kwargs: Any):
        super().__init__(crawler, *args, **kwargs)
        if not isinstance(crawler.engine.downloader, DomainDownloader):
            raise TypeError(
                "DomainQueue needs DOWNLOADER = 'pricewatch.fetching.downloader.DomainDownloader'"
            )
        self._downloader = crawler.engine.downloader
        self._last_domain = ""

    def pop(self) -> Request | None:
        domain = min(filter(self._downloader.has_capacity, self.pqueues), key=self._order, default=None)
        if domain is None:
            return None
        self._last_domain = domain
        queue = self.pqueues[domain]
        request = queue.pop()
        if len(queue) == 0:
            del self.pqueues[domain]
            queue.close()
        return request

    def _order(self, domain: str) -> tuple[int, bool, str]:
        """Sort by requests in progress; domains with equally many alternate, by name."""
        return self._downloader.in_progress(domain), domain <= self._last_domain, domain
