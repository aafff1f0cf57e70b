"""Targets: check known URLs. Due targets are leased from the queue; a page can be checked and not stored."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any, ClassVar

from scrapy import signals
from scrapy.http import Request, Response, TextResponse
from sqlalchemy import Connection
from twisted.python.failure import Failure

from pricewatch import clock
from pricewatch.adapters.base import PresenceEvidence
from pricewatch.adapters.offer_check import check_offer
from pricewatch.errors import UserError
from pricewatch.items import ExtractFailure, ListingCheck, ProductPage, Quarantine, UnreadPage
from pricewatch.parsing.identity import identity_key
from pricewatch.queued_work import LeasedTarget, SourceHints
from pricewatch.rules.page_moves import is_permanent
from pricewatch.rules.target_schedule import TargetOutcome
from pricewatch.runs.requested_page import PageContext, leads_elsewhere, outcome_of, reason_of, requested_url
from pricewatch.runs.target_plan import Plan, adapter_of, limits_of, make_plan, pace_of
from pricewatch.runs.target_report import CheckResult, lines_of, result_of
from pricewatch.spiders.arguments import TargetsArguments
from pricewatch.spiders.product_pages import ProductPageSpider
from pricewatch.store.engine.database import engine
from pricewatch.store.queues import target_leases, target_queue, target_rows
from pricewatch.store.source_registry import source_hints
from pricewatch.store.writing import moved_targets
from pricewatch.vocabulary import Attempt, DropReason, FailureReason, QuarantineReason

CHUNKS_UNDER_WAY = 10
# A redirect to a page with one of these reasons is not a move: nothing is known about the actual page.
HIDDEN_PAGE = (FailureReason.BLOCKED_PAGE, FailureReason.EMPTY_PAGE, FailureReason.READ_TIMEOUT)


class TargetsSpider(ProductPageSpider):
    name = "targets"
    arguments_type = TargetsArguments
    extra_pipelines: ClassVar[dict[str, int]] = {
        "pricewatch.pipelines.target_outcome.TargetOutcomePipeline": 290
    }

    @classmethod
    def load(cls, arguments: TargetsArguments) -> Plan:
        with engine().connect() as connection:
            return make_plan(connection, arguments)

    def prepare(self, arguments: TargetsArguments) -> None:
        settings = self.crawler.settings
        self.plan = self.load(arguments)
        self.lease_seconds = settings.getfloat("TARGETS_LEASE_SECONDS")
        self.chunk = settings.getint("TARGETS_LEASE_CHUNK")
        self._left = arguments.max_targets or settings.getint("TARGETS_PER_RUN")
        self._deadline = time.monotonic() + 60 * settings.getfloat("TARGETS_TIME_BUDGET_MINUTES")
        self._under_way: dict[int, LeasedTarget] = {}
        self._hints: dict[str, SourceHints] = {}
        self._done = 0
        self._changed = asyncio.Event()
        self.crawler.signals.connect(self._item_ended, signals.item_scraped)
        self.crawler.signals.connect(self._item_ended, signals.item_dropped)

    def run_fields(self) -> dict[str, Any]:
        return {**super().run_fields(), "source_id": self.plan.source_id}

    @property
    def worker(self) -> str:
        return target_leases.worker_name(self.run.id)

    def describe(self) -> str:
        return f"{self.name} {self.plan.url or self.plan.source_id or ''}".strip()

    def work_done(self) -> tuple[int, int | None]:
        return self._done, self._done + len(self._under_way)

    async def start(self) -> AsyncIterator[Any]:
        if self.plan.context is not None and self.plan.url is not None:
            yield self.request_page(self.plan.url, self.plan.context)
            return
        async for target in self._named() if self.plan.ids or self.plan.new else self._queued():
            self._under_way[target.id] = target
            subject = self._subject(target)
            if subject is None or target.robots_path_blocked:
                yield self._refuse(target, subject)
            else:
                yield self.request_page(target.url, subject)

    async def _named(self) -> AsyncIterator[LeasedTarget]:
        def lease(connection: Connection) -> list[LeasedTarget]:
            now, ids = clock.now(), self.plan.ids
            if self.plan.new is not None:
                target_rows.add(connection, [self.plan.new], now, "crawl")
                ids = target_rows.find(connection, [self.plan.new.url])
            leased = target_leases.lease_by_id(connection, self.worker, ids, now, seconds=self.lease_seconds)
            return self._with_hints(connection, leased)

        leased = await self.run.call(lease)
        if missing := len(self.plan.ids) - len(leased):
            self.run.error("Another run is checking some of the targets already", targets=missing)
        for target in leased:
            yield target

    async def _queued(self) -> AsyncIterator[LeasedTarget]:
        """Queue the due targets as the dispatcher does, then lease queued targets in chunks."""
        limits, pace = limits_of(self.crawler.settings), pace_of(self.crawler.settings)
        admission = await self.run.call(
            lambda connection: target_queue.schedule(connection, clock.now(), limits, pace)
        )
        for reason, count in admission.reasons.items():
            self.run.note(f"targets/rejected_{reason}", count)
        while True:
            leased = await self.run.call(self._lease) if self._may_lease() else []
            self._left -= len(leased)
            for target in leased:
                yield target
            if not leased and not self._under_way:
                return
            if not leased or not self._may_lease():
                await self._wait_for_capacity()

    def _may_lease(self) -> bool:
        room = len(self._under_way) < self.chunk * CHUNKS_UNDER_WAY
        return room and self._left > 0 and time.monotonic() < self._deadline

    def _lease(self, connection: Connection) -> list[LeasedTarget]:
        """Lease targets, except of sources with many under way: a slow source must not block others."""
        now = clock.now()
        under_way = Counter(target.source_id for target in self._under_way.values())
        target_queue.requeue_expired(connection, now)
        leased = target_leases.lease(
            connection,
            self.worker,
            now,
            seconds=self.lease_seconds,
            most=min(self.chunk, self._left),
            busy=[source_id for source_id, count in under_way.items() if count * 2 >= self.chunk],
            source_id=self.plan.source_id,
        )
        return self._with_hints(connection, leased)

    def _with_hints(self, connection: Connection, leased: list[LeasedTarget]) -> list[LeasedTarget]:
        """Load how the pages of the leased targets are fetched and read."""
        self._hints |= source_hints.load(connection, {target.source_id for target in leased})
        return leased

    async def _wait_for_capacity(self) -> None:
        limit = len(self._under_way) // 2
        while len(self._under_way) > limit:
            self._changed.clear()
            await self._changed.wait()

    def _subject(self, target: LeasedTarget) -> PageContext | None:
        try:
            adapter = adapter_of(target.adapter_id, target.selectors)
        except UserError:
            return None
        subject = PageContext(
            adapter, target.source_id, target.listing_id, target, target.earlier, target.render
        )
        return subject.with_hints(self._hints[target.source_id])

    def _refuse(self, target: LeasedTarget, subject: PageContext | None) -> UnreadPage:
        """Return the item for a target that is not requested: it is blocked or its adapter is missing."""
        outcome, reason = TargetOutcome.FAILED, f"there is no adapter {target.adapter_id}"
        if subject is not None:
            outcome, reason = TargetOutcome.DROPPED, DropReason.BLOCKED_BY_ROBOTS_TXT
        self.run.note(f"targets/{outcome.lower()}")
        self._print(CheckResult(target.url, "drop", reason))
        return UnreadPage(
            url=target.url,
            source=target.source_id,
            adapter_id=target.adapter_id,
            adapter_version="",
            reason=reason,
            observed_at=clock.now(),
            requested=False,
            listing_id=target.listing_id,
            target=target,
        )

    async def product_items(
        self, response: Response, subject: PageContext, read: ProductPage | ExtractFailure
    ) -> list[ProductPage | UnreadPage]:
        if subject.target is None:
            # A page that is only checked, not stored.
            self._report(read, subject)
            return []
        return await super().product_items(response, subject, read)

    def may_follow(self, response: Response, subject: PageContext) -> bool:
        return subject.target is not None and is_permanent(response.meta.get("redirect_reasons", []))

    async def product_read(
        self, response: Response, subject: PageContext, result: ProductPage | ExtractFailure
    ) -> ProductPage | ExtractFailure:
        if subject.target is not None and leads_elsewhere(response) and self.may_follow(response, subject):
            result = await self._follow(response, subject, subject.target, result)
        if self.plan.url is not None:
            self._report(deepcopy(result), subject)
        return result

    async def _follow(
        self,
        response: Response,
        subject: PageContext,
        target: LeasedTarget,
        result: ProductPage | ExtractFailure,
    ) -> ProductPage | ExtractFailure:
        """Handle a permanent redirect: the target follows if the ids match, else the page is quarantined."""
        read = result
        if isinstance(read, ExtractFailure):
            if read.reason in HIDDEN_PAGE or not isinstance(response, TextResponse):
                return read
            read = self.product_page(response, subject, None, None, read.evidence)
            if isinstance(read, ExtractFailure):
                return read
        offer = read.offer
        quarantine_key = identity_key(None, None, target.canonical_url)

        def decide(connection: Connection) -> tuple[str | None, bool]:
            why = moved_targets.move_target(connection, target.id, offer, by="pricewatch", now=clock.now())
            again = moved_targets.was_rejected(connection, target.source_id, quarantine_key, response.url)
            return why, again

        why, rejected = await self.run.call(decide)
        if why is None:
            self.run.note("targets/moved")
            return read
        if rejected:
            details = f"{requested_url(response)} led to another page, which a person rejected"
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, details)
        urls = {"moved_from": target.url, "moved_to": response.url}
        read.quarantine = Quarantine(
            QuarantineReason.MOVED,
            {"why": why, **urls},
            None if isinstance(result, ExtractFailure) else offer,
        )
        # One quarantine row per target, wherever its URL redirects to.
        offer.identity_key = quarantine_key
        return read

    async def check_from(
        self,
        page: UnreadPage,
        subject: PageContext,
        response: Response | None,
        evidence: PresenceEvidence | None = None,
    ) -> ListingCheck | None:
        """Return what the page says about its listing; None if the target has no listing yet."""
        if subject.listing_id is None or subject.target is None:
            return None
        if response is None or page.reason in HIDDEN_PAGE:
            return ListingCheck(subject.listing_id, Attempt.TROUBLE, page.observed_at)
        url = subject.target.url
        return await self.check_listing(subject.listing_id, url, response, subject.adapter, evidence)

    async def product_failed(self, failure: Failure) -> list[ProductPage | UnreadPage]:
        # A page that was only checked has no outcome to store.
        return [page for page in await super().product_failed(failure) if page.target is not None]

    async def not_fetched(self, failure: Failure, request: Request, subject: PageContext) -> UnreadPage:
        outcome, status, error = outcome_of(failure)
        self._print(CheckResult(request.url, "failed", reason_of(failure, outcome, status), error))
        return await super().not_fetched(failure, request, subject)

    def _item_ended(self, item: Any) -> None:
        # A target that was not tried stays leased until the run releases it.
        if isinstance(item, ProductPage) or (isinstance(item, UnreadPage) and item.is_tried):
            self._done += self._under_way.pop(item.target_id or 0, None) is not None
            self._changed.set()

    def _report(self, result: ProductPage | ExtractFailure, subject: PageContext) -> None:
        url = self.plan.url or ""
        if isinstance(result, ExtractFailure):
            self._print(CheckResult(url, "failed", result.reason, result.details, evidence=result.evidence))
            return
        verdict = check_offer(result.offer, subject.adapter, result.quarantine)
        checked = result_of(url, result.offer, verdict, result.evidence, self.plan.known)
        checked.stored = subject.target is not None and checked.status in ("ok", "quarantine")
        self._print(checked)

    def _print(self, result: CheckResult) -> None:
        """Print the result of a single page on the terminal, and store it in the run's row."""
        if self.plan.url is not None:
            self.run.progress["result"] = result.as_json()
            print("\n".join(lines_of(result)), flush=True)
