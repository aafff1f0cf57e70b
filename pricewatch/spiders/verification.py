"""Verification: look at the pages of listings that nobody saw for a while; conclude with evidence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import Field
from scrapy.http import Request, Response
from sqlalchemy import Connection
from twisted.python.failure import Failure

from pricewatch import clock
from pricewatch.adapters.base import Adapter, Presence
from pricewatch.items import RunStatus, VerificationStatus
from pricewatch.parsing.url import is_same_product_url
from pricewatch.rules.freshness import CLOCKS_APART, VERIFY_BELOW, falls_below
from pricewatch.rules.verification import (
    HEAD_REFUSED,
    Attempt,
    by_status,
    is_gone,
    is_mass_gone,
    strikes_after,
)
from pricewatch.spiders.arguments import MOST, Arguments
from pricewatch.spiders.base import PricewatchSpider, adapter_for, outcome_of
from pricewatch.spiders.run import Run
from pricewatch.store import alerts, verification
from pricewatch.store.database import engine
from pricewatch.store.markets import MarketRecord, load_approved_market
from pricewatch.store.verification import Candidate

PRESENCE = {Presence.ALIVE: Attempt.ALIVE, Presence.GONE: Attempt.GONE, Presence.SOLD: Attempt.SOLD}


class VerificationArguments(Arguments):
    market: str = Field(min_length=1, description="the market whose listings are verified, by its id")
    max_listings: int | None = Field(None, ge=1, le=MOST, description="look at no more than this many")


@dataclass(slots=True)
class Look:
    """One look at one listing, with what it is based on."""

    candidate: Candidate
    attempt: Attempt
    method: str
    http_status: int | None = None
    final_url: str | None = None
    marker: str | None = None
    reason: str | None = None
    sold_at: datetime | None = None


class VerificationSpider(PricewatchSpider):
    name = "verification"
    arguments_type = VerificationArguments
    market: MarketRecord

    @classmethod
    def load(cls, arguments: VerificationArguments) -> tuple[MarketRecord, Adapter]:
        with engine().connect() as connection:
            market = load_approved_market(connection, arguments.market)
        return market, adapter_for(market.adapter_id)

    def prepare(self, arguments: VerificationArguments) -> None:
        self.market, self.adapter = self.load(arguments)
        self.source_id = self.market.source_id
        self.most = arguments.max_listings or self.settings.getint("VERIFICATION_MAX_LISTINGS")
        self.looks: list[Look] = []
        self._wanted: int | None = None
        self._all_looked_at = asyncio.Event()
        self.run = Run(
            self.crawler,
            self.name,
            market_id=self.market.id,
            source_id=self.source_id,
            adapter_id=self.adapter.id,
            adapter_version=self.adapter.version,
            trigger=arguments.trigger,
            job_id=arguments.job,
            arguments=arguments.model_dump(exclude_none=True, exclude={"job", "trigger"}),
        )

    def describe(self) -> str:
        return f"{self.name} {self.market.id}"

    def work_done(self) -> tuple[int, int | None]:
        return len(self.looks), self._wanted

    async def start(self) -> AsyncIterator[Any]:
        candidates = await self.run.call(self._choose)
        self._wanted = len(candidates)
        for candidate in candidates:
            self.run.count("urls_attempted")
            yield self._request(candidate, "GET" if self.adapter.presence_needs_page else "HEAD")
        if candidates:
            await self._all_looked_at.wait()
            await self._conclude()

    def _choose(self, connection: Connection) -> list[Candidate]:
        now, tier = clock.now(), self.market.tier
        expired = verification.expire(
            connection, self.run.id, self.market.id, used_up_before=now - falls_below(0, tier), now=now
        )
        if expired:
            self.run.count("gone", expired)
            self.run.note("verification/expired", expired)
        unseen = timedelta(hours=self.settings.getfloat("VERIFICATION_UNSEEN_HOURS"))
        return verification.candidates(
            connection,
            self.market.id,
            unseen_before=now - unseen,
            doubted_before=now - falls_below(VERIFY_BELOW, tier),
            latest=now + CLOCKS_APART,
            most=self.most,
        )

    def _request(self, candidate: Candidate, method: str) -> Request:
        return Request(
            candidate.url,
            method=method,
            callback=self.looked,
            errback=self.not_reached,
            cb_kwargs={"candidate": candidate},
            meta={"handle_httpstatus_all": True, **(self.rendering() if method == "GET" else {})},
            dont_filter=True,
        )

    def looked(self, response: Response, candidate: Candidate) -> Any:
        method = response.request.method if response.request else "GET"
        if method == "HEAD" and response.status in HEAD_REFUSED:
            return self._request(candidate, "GET")
        look = Look(candidate, by_status(response.status), method, response.status, response.url)
        if look.attempt is Attempt.TROUBLE:
            look.reason = f"status {response.status}"
        elif not is_same_product_url(candidate.url, response.url):
            look.attempt, look.reason = Attempt.TROUBLE, "led to another page"
        elif look.attempt is Attempt.ALIVE and method == "GET":
            self._read_presence(look, response)
        return self._add(look)

    def _read_presence(self, look: Look, response: Response) -> None:
        evidence = self.presence(response)
        look.attempt = PRESENCE.get(evidence.presence, Attempt.TROUBLE)
        look.marker = evidence.marker or None
        look.sold_at = evidence.sold_at
        if look.attempt is Attempt.TROUBLE:
            look.reason = "the page says nothing about the listing"

    def not_reached(self, failure: Failure) -> Any:
        request: Request = failure.request  # type: ignore[attr-defined]
        outcome, status, error = outcome_of(failure)
        candidate = request.cb_kwargs["candidate"]
        return self._add(
            Look(candidate, Attempt.TROUBLE, request.method, status, reason=f"{outcome}: {error}")
        )

    def _add(self, look: Look) -> None:
        self.looks.append(look)
        self.run.count("urls_failed" if look.attempt is Attempt.TROUBLE else "urls_succeeded")
        self.run.note(f"verification/{look.attempt}")
        if len(self.looks) == self._wanted:
            self._all_looked_at.set()

    async def _conclude(self) -> None:
        """Everything that was seen is written at once, so that one look at the whole can stop it."""
        mass_gone = is_mass_gone([look.attempt for look in self.looks])
        rows = [] if mass_gone else [self._row(look) for look in self.looks]
        struck = {row["listing_id"] for row in rows if row["struck"]}
        now = clock.now()
        attempts = [self._attempt(look, now, struck) for look in self.looks]

        def conclude(connection: Connection) -> None:
            verification.record_attempts(connection, attempts)
            verification.apply(connection, self.run.id, rows, now)
            if mass_gone:
                alerts.raise_alert(connection, subject=self.market.id, now=now, **self._mass_gone_alert())
            else:
                alerts.resolve_alert(connection, kind="mass_gone", subject=self.market.id, now=now)

        await self.run.call(conclude)
        self.run.count("gone", sum(row["gone"] for row in rows))
        if mass_gone:
            self.run.conclude(RunStatus.QUARANTINED, self._mass_gone_alert()["message"])

    def _row(self, look: Look) -> dict[str, Any]:
        candidate = look.candidate
        same_run = candidate.last_strike_run_id == self.run.id
        strikes = strikes_after(candidate.strikes, look.attempt, same_run=same_run)
        gone = is_gone(strikes, look.attempt)
        alive = look.attempt is Attempt.ALIVE
        return {
            "listing_id": candidate.id,
            "last_seen_at": candidate.last_seen_at.isoformat(),
            "strikes": strikes,
            "struck": strikes > candidate.strikes,
            "alive": alive,
            "gone": gone,
            "sold": look.attempt is Attempt.SOLD,
            "sold_at": look.sold_at.isoformat() if look.sold_at else None,
            "verification_status": VerificationStatus.VERIFIED
            if alive
            else VerificationStatus.GONE
            if gone
            else VerificationStatus.PENDING,
        }

    def _attempt(self, look: Look, now: datetime, struck: set[int]) -> dict[str, Any]:
        return {
            "run_id": self.run.id,
            "listing_id": look.candidate.id,
            "checked_at": now,
            "method": look.method,
            "http_status": look.http_status,
            "final_url": look.final_url,
            "outcome": look.attempt,
            "reason": look.reason,
            "marker": look.marker,
            "strike": look.candidate.id in struck,
        }

    def _mass_gone_alert(self) -> dict[str, Any]:
        missing = sum(look.attempt in (Attempt.NOT_FOUND, Attempt.GONE) for look in self.looks)
        return {
            "kind": "mass_gone",
            "severity": "P1",
            "message": f"{missing} of {len(self.looks)} listings of {self.market.id} were not found at once: "
            "the site may have moved its URLs, so no strike was counted",
            "details": {"run_id": self.run.id},
        }
