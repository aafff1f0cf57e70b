"""Fourth: set when a product page without an accepted offer is read again."""

from __future__ import annotations

from scrapy.crawler import Crawler
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.items import ProductPage, UnreadPage
from pricewatch.pipelines.base import RunPipeline
from pricewatch.rules.detail_pages import due_after_answer, due_after_trouble
from pricewatch.store.writing import detail_queue
from pricewatch.store.writing.batch import Batch
from pricewatch.vocabulary import DropReason, FailureReason


class DetailsPipeline(RunPipeline):
    """The row of an accepted offer has its own due date; targets have their own schedule."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self.refresh_hours = crawler.settings.getfloat("DETAIL_REFRESH_HOURS")
        self.retry_minutes = crawler.settings.getfloat("DETAIL_RETRY_MINUTES")

    def write(self, connection: Connection, batch: Batch) -> None:
        for _, product in batch.of(ProductPage):
            if product.listing_id is not None and not product.is_accepted:
                self._postpone(connection, product, product.listing_id)
        for _, page in batch.of(UnreadPage):
            if page.listing_id is not None:
                self._not_read(connection, page, page.listing_id)

    def _postpone(self, connection: Connection, page: ProductPage, listing_id: int) -> None:
        at = page.offer.observed_at or clock.now()
        due_at = due_after_answer(at, refresh_hours=self.refresh_hours)
        duplicate = page.dropped is not None and page.dropped.reason is DropReason.DUPLICATE_WITHIN_RUN
        detail_queue.postpone(connection, listing_id, due_at, unread_at=None if duplicate else at)

    def _not_read(self, connection: Connection, page: UnreadPage, listing_id: int) -> None:
        """Retry a failed request soon, and a page without an offer after the usual interval.

        If the listing is gone, request verification.
        """
        at = page.observed_at
        due_at = (
            due_after_answer(at, refresh_hours=self.refresh_hours)
            if page.answered
            else due_after_trouble(at, retry_minutes=self.retry_minutes)
        )
        if page.target is None:
            if page.gone:
                detail_queue.request_verification(connection, [listing_id], at, due_at)
            else:
                detail_queue.postpone(connection, listing_id, due_at)
        if page.requested and not page.gone:
            # Out of stock without a price is a successful reading.
            was_read = page.reason == FailureReason.OOS_NO_PRICE
            detail_queue.record_check(connection, listing_id, None if was_read else at)
