"""A row for each overview page, and the sweep's checkpoint, in the transaction of the page's cards."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Connection

from pricewatch.items import OverviewPage
from pricewatch.pipelines.base import RunPipeline
from pricewatch.rules.sweep_cycle import should_have_price
from pricewatch.store.writing import run_rows, sweep_checkpoints
from pricewatch.store.writing.batch import Batch
from pricewatch.vocabulary import Availability, PageOutcome


class CheckpointPipeline(RunPipeline):
    def write(self, connection: Connection, batch: Batch) -> None:
        for unit, page in batch.of(OverviewPage):
            batch.count(connection)
            counts = unit.counts
            counts.pages, counts.cards = 1, len(unit.rows)
            if not unit.collect_only:
                page.new = counts.new
            if page.in_cycle and batch.market_id is not None:
                page.counted = self._advance(connection, batch.market_id, page)
            run_rows.add_page(
                connection,
                batch.run_id,
                url=page.url,
                outcome=PageOutcome.OK,
                fetched_at=page.observed_at,
                start_page=page.start_page,
                page=page.number,
                http_status=page.http_status,
                cards=counts.cards,
                new_listings=page.new,
                updated_listings=counts.updated,
                price_rows=counts.price_rows,
                dropped=page.dropped,
                duration_ms=page.duration_ms,
            )

    def _advance(self, connection: Connection, market_id: str, page: OverviewPage) -> bool:
        counts = Counter([(card.availability, card.price_cents is not None) for card in page.cards])
        # All cards on the page: a change of the market's filters must not look like a change of the market.
        return sweep_checkpoints.advance(
            connection,
            market_id,
            page.start_page,
            page.number,
            page.cards_on_page,
            priced=_expecting_price(counts, has_price=True),
            unpriced=_expecting_price(counts, has_price=False),
        )


def _expecting_price(counts: Counter[tuple[Availability | None, bool]], *, has_price: bool) -> int:
    """Return how many of the cards that should have a price have one, or have none."""
    return sum(
        count
        for (availability, priced), count in counts.items()
        if priced is has_price and should_have_price(availability)
    )
