"""Verification: check the pages of listings that were not seen for a while."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, ClassVar

from pydantic import Field, model_validator
from scrapy.http import Request, Response
from sqlalchemy import Connection
from twisted.python.failure import Failure

from pricewatch import adapters, clock
from pricewatch.adapters.base import Adapter
from pricewatch.errors import UserError
from pricewatch.items import CheckedListings, ListingCheck
from pricewatch.queued_work import SourceHints, VerificationCandidate
from pricewatch.rules.freshness import CLOCKS_APART, VERIFY_BELOW, time_until_below
from pricewatch.rules.verification_outcome import HEAD_REFUSED
from pricewatch.runs.page_rendering import page_meta
from pricewatch.runs.requested_page import outcome_of
from pricewatch.spiders.arguments import MOST, Arguments
from pricewatch.spiders.base import PricewatchSpider
from pricewatch.store.engine.database import engine
from pricewatch.store.source_registry import source_hints, source_rows
from pricewatch.store.source_registry.market_rows import MarketRecord, load_approved_market
from pricewatch.store.source_registry.source_rows import SourceRecord
from pricewatch.store.writing import verification_rows
from pricewatch.vocabulary import Attempt


class VerificationArguments(Arguments):
    market: str | None = Field(None, min_length=1, description="verify listings of this market, by its id")
    source: str | None = Field(
        None, min_length=1, description="verify listings of this source that are in no market, by its id"
    )
    max_listings: int | None = Field(None, ge=1, le=MOST, description="check at most this many")

    @model_validator(mode="after")
    def _one_choice(self) -> VerificationArguments:
        if (self.market is None) == (self.source is None):
            raise ValueError("give either -a market=ID or -a source=ID")
        return self


class VerificationSpider(PricewatchSpider):
    name = "verification"
    arguments_type = VerificationArguments
    extra_pipelines: ClassVar[dict[str, int]] = {
        "pricewatch.pipelines.verification.VerificationPipeline": 360
    }
    # Either the market, or the source whose listings outside any market have a verification request.
    market: MarketRecord | None
    source: SourceRecord | None

    @classmethod
    def load(
        cls, arguments: VerificationArguments
    ) -> tuple[MarketRecord | None, SourceRecord | None, Adapter, SourceHints]:
        with engine().connect() as connection:
            if arguments.market is not None:
                market = load_approved_market(connection, arguments.market)
                return market, None, adapters.get(market.adapter_id), market.hints
            source = source_rows.find(connection, arguments.source or "")
            hints = source_hints.load(connection, [source.id])[source.id]
        source_rows.check_approved(source)
        return None, source, adapters.get(source.adapter_id), hints

    def prepare(self, arguments: VerificationArguments) -> None:
        self.market, self.source, self.adapter, self.hints = self.load(arguments)
        self.source_id = self.market.source_id if self.market else self.source.id if self.source else ""
        self.alert_subject = self.market.id if self.market else self.source_id
        self.most = arguments.max_listings or self.settings.getint("VERIFICATION_MAX_LISTINGS")
        self.checks: list[ListingCheck] = []
        self._candidates: dict[int, VerificationCandidate] = {}
        self._candidate_count: int | None = None
        self._all_checked = asyncio.Event()

    def run_fields(self) -> dict[str, Any]:
        return {
            **super().run_fields(),
            "market_id": self.market.id if self.market else None,
            "source_id": self.source_id,
            "adapter_id": self.adapter.id,
            "adapter_version": self.adapter.version,
        }

    def describe(self) -> str:
        return f"{self.name} {self.alert_subject}"

    def work_done(self) -> tuple[int, int | None]:
        return len(self.checks), self._candidate_count

    async def start(self) -> AsyncIterator[Any]:
        candidates = await self.run.call(self._choose)
        self._candidates = {candidate.id: candidate for candidate in candidates}
        self._candidate_count = len(candidates)
        for candidate in candidates:
            self.run.count("urls_attempted")
            adapter = self._adapter_of(candidate)
            yield self._request(candidate, "GET" if adapter.presence_needs_page else "HEAD")
        if candidates:
            await self._all_checked.wait()
            # All checks are applied together.
            yield CheckedListings(
                alert_subject=self.alert_subject, checks=self.checks, candidates=self._candidates
            )

    def _choose(self, connection: Connection) -> list[VerificationCandidate]:
        if self.market is None:
            return verification_rows.candidates_outside_markets(connection, self.source_id, most=self.most)
        now, tier = clock.now(), self.market.tier
        expired = verification_rows.expire_unseen(
            connection, self.run.id, self.market.id, expired_before=now - time_until_below(0, tier), now=now
        )
        if expired:
            self.run.count("gone", expired)
            self.run.note("verification/expired", expired)
        unseen = timedelta(hours=self.settings.getfloat("VERIFICATION_UNSEEN_HOURS"))
        return verification_rows.candidates(
            connection,
            self.market.id,
            unseen_before=now - unseen,
            unverified_before=now - time_until_below(VERIFY_BELOW, tier),
            latest=now + CLOCKS_APART,
            most=self.most,
        )

    def _adapter_of(self, candidate: VerificationCandidate) -> Adapter:
        """Return the adapter of the listing's target if it has one and it exists, else that of the source."""
        try:
            return adapters.get(candidate.adapter_id) if candidate.adapter_id else self.adapter
        except UserError:
            return self.adapter

    def _request(self, candidate: VerificationCandidate, method: str) -> Request:
        rendering = {}
        if method == "GET":
            rendering = page_meta(self._adapter_of(candidate), self.hints, candidate.render)
        return Request(
            candidate.url,
            method=method,
            callback=self.parse_listing,
            errback=self.listing_failed,
            cb_kwargs={"candidate": candidate},
            meta={"handle_httpstatus_all": True, **rendering},
            dont_filter=True,
        )

    async def parse_listing(self, response: Response, candidate: VerificationCandidate) -> Any:
        method = response.request.method if response.request else "GET"
        if method == "HEAD" and response.status in HEAD_REFUSED:
            return self._request(candidate, "GET")
        adapter = self._adapter_of(candidate)
        return self._add(await self.check_listing(candidate.id, candidate.url, response, adapter))

    def listing_failed(self, failure: Failure) -> Any:
        request: Request = failure.request  # type: ignore[attr-defined]
        outcome, status, error = outcome_of(failure)
        candidate = request.cb_kwargs["candidate"]
        return self._add(
            ListingCheck(
                candidate.id,
                Attempt.TROUBLE,
                clock.now(),
                request.method,
                status,
                reason=f"{outcome}: {error}",
            )
        )

    def _add(self, check: ListingCheck) -> None:
        self.checks.append(check)
        self.run.count("urls_failed" if check.attempt is Attempt.TROUBLE else "urls_succeeded")
        self.run.note(f"verification/{check.attempt}")
        if len(self.checks) == self._candidate_count:
            self._all_checked.set()
