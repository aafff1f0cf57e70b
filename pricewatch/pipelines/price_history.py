"""Third: append a history row when the price, currency or availability has changed."""

from __future__ import annotations

from sqlalchemy import Connection

from pricewatch.items import UnreadPage
from pricewatch.pipelines.base import RunPipeline
from pricewatch.store.writing import history_append
from pricewatch.store.writing.batch import Batch
from pricewatch.vocabulary import FailureReason


class PriceHistoryPipeline(RunPipeline):
    def write(self, connection: Connection, batch: Batch) -> None:
        if batch.has_rows:
            history_append.append(connection, batch)
        for _, page in batch.of(UnreadPage):
            if page.listing_id is not None and page.reason == FailureReason.OOS_NO_PRICE:
                history_append.record_out_of_stock(
                    connection, page.listing_id, page.observed_at, batch.run_id, page.adapter_version
                )
