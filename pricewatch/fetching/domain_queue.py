"""Takes from the queue only what can be used soon: a slow domain never fills the downloader."""

from __future__ import annotations

from typing import Any

from scrapy.crawler import Crawler
from scrapy.http import Request
from scrapy.pqueues import DownloaderAwarePriorityQueue

from pricewatch.fetching.downloader import DomainDownloader


class DomainQueue(DownloaderAwarePriorityQueue):
    """Of the domains with room, the one with the fewest requests at hand comes first."""

    def __init__(self, crawler: Crawler, *args: Any, **kwargs: Any):
        super().__init__(crawler, *args, **kwargs)
        if not isinstance(crawler.engine.downloader, DomainDownloader):
            raise TypeError(
                "DomainQueue needs DOWNLOADER = 'pricewatch.fetching.downloader.DomainDownloader'"
            )
        self._downloader = crawler.engine.downloader
        self._last_domain = ""

    def pop(self) -> Request | None:
        domain = min(filter(self._downloader.has_room, self.pqueues), key=self._order, default=None)
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
        """The fewest requests at hand first; domains with equally many take turns, by name."""
        return self._downloader.at_hand(domain), domain <= self._last_domain, domain
