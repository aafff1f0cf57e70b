"""Targets: known URLs. What is due is leased from the queue; one page can be looked at without storing it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from copy import deepcopy
from typing import Any

from scrapy import signals
from scrapy.http import Request, Response, TextResponse
from sqlalchemy import Connection
from twisted.python.failure import Failure

from pricewatch import clock
from pricewatch.adapters.verdict import judge
from pricewatch.errors import UserError
from pricewatch.items import (
    Availability,
    Drop,
    DropReason,
    ExtractFailure,
    FailureReason,
    ProductPage,
    Quarantine,
    QuarantineReason,
)
from pricewatch.parsing.identity import identity_key
from pricewatch.rules.moves import is_permanent
from pricewatch.rules.targets import Limits, TargetOutcome
from pricewatch.rules.verification import Attempt
from pricewatch.spiders.arguments import TargetsArguments
from pricewatch.spiders.base import (
    NOT_ASKED,
    PricewatchSpider,
    Subject,
    asked_url,
    leads_elsewhere,
    outcome_of,
    reason_of,
    unread_at,
)
from pricewatch.spiders.looks import Look, evidence_row, listing_row
from pricewatch.spiders.run import Run
from pricewatch.spiders.target_looks import TargetLooks
from pricewatch.spiders.target_plan import Plan, adapter_of, make_plan
from pricewatch.spiders.target_report import LookResult, lines_of, result_of
from pricewatch.store import details, moves, runs, target_leases, target_queue, targets, verification
from pricewatch.store.batch import Tally, Unit
from pricewatch.store.database import engine
from pricewatch.store.history import note_out_of_stock
from pricewatch.store.target_leases import LeasedTarget
from pricewatch.store.target_queue import Pace

Note = Callable[[Connection], None]
# Leases are made longer well before they run out.
EXTENSIONS_PER_LEASE = 3
CHUNKS_UNDER_WAY = 10
# An address that leads to one of these has not moved: the site keeps us from seeing where it leads.
NOT_SHOWN = (FailureReason.BLOCKED_PAGE, FailureReason.EMPTY_PAGE)


class TargetsSpider(PricewatchSpider):
    name = "targets"
    arguments_type = TargetsArguments

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
        self._extended = time.monotonic()
        self._under_way: dict[int, LeasedTarget] = {}
        # Kept until its outcome is written, which may be after the crawl has done with it.
        self._leased: dict[int, LeasedTarget] = {}
        self._looks = TargetLooks()
        self._done = 0
        self._changed = asyncio.Event()
        self.run = Run(
            self.crawler,
            self.name,
            source_id=self.plan.source_id,
            trigger=arguments.trigger,
            job_id=arguments.job,
            arguments=arguments.model_dump(exclude_none=True, exclude={"job", "trigger"}),
        )
        self.run.with_batch.append(self._extend)
        self.run.with_end += [self._conclude, self._release]
        # One look at one page says nothing about the adapter, least of all while somebody mends it.
        self.run.judges_adapters = self.plan.look is None
        self.crawler.signals.connect(self._item_scraped, signals.item_scraped)

    @property
    def worker(self) -> str:
        return f"{runs.node_name()} run {self.run.id}"

    def describe(self) -> str:
        return f"{self.name} {self.plan.url or self.plan.source_id or ''}".strip()

    def work_done(self) -> tuple[int, int | None]:
        return self._done, self._done + len(self._under_way)

    async def start(self) -> AsyncIterator[Any]:
        if self.plan.look is not None and self.plan.url is not None:
            yield self.request_page(self.plan.url, self.plan.look)
            return
        async for target in self._named() if self.plan.ids or self.plan.new else self._queued():
            self._under_way[target.id] = self._leased[target.id] = target
            subject = self._subject(target)
            if subject is None or target.robots_path_blocked:
                await self._refuse(target, subject)
            else:
                yield self.request_page(target.url, subject)

    async def _named(self) -> AsyncIterator[LeasedTarget]:
        def lease(connection: Connection) -> list[LeasedTarget]:
            now, ids = clock.now(), self.plan.ids
            if self.plan.new is not None:
                targets.add(connection, [self.plan.new], now, "crawl")
                ids = targets.find(connection, [self.plan.new.url])
            return target_leases.lease_named(connection, self.worker, ids, now, seconds=self.lease_seconds)

        leased = await self.run.call(lease)
        if missing := len(self.plan.ids) - len(leased):
            self.run.error("Somebody else is fetching them already", targets=missing)
        for target in leased:
            yield target

    async def _queued(self) -> AsyncIterator[LeasedTarget]:
        """What is due is queued first, as the dispatcher would; then chunk by chunk what waits."""
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
                await self._until_fewer()

    def _may_lease(self) -> bool:
        room = len(self._under_way) < self.chunk * CHUNKS_UNDER_WAY
        return room and self._left > 0 and time.monotonic() < self._deadline

    def _lease(self, connection: Connection) -> list[LeasedTarget]:
        """A source of which much is under way waits, so that a slow one does not hold up the others."""
        now = clock.now()
        under_way = Counter(target.source_id for target in self._under_way.values())
        target_queue.return_expired(connection, now)
        return target_leases.lease(
            connection,
            self.worker,
            now,
            seconds=self.lease_seconds,
            most=min(self.chunk, self._left),
            busy=[source_id for source_id, count in under_way.items() if count * 2 >= self.chunk],
            source_id=self.plan.source_id,
        )

    async def _until_fewer(self) -> None:
        wanted = len(self._under_way) // 2
        while len(self._under_way) > wanted:
            self._changed.clear()
            await self._changed.wait()

    def _extend(self, connection: Connection) -> None:
        """With every sign of life of the run: what it has leased stays its own."""
        if time.monotonic() - self._extended > self.lease_seconds / EXTENSIONS_PER_LEASE:
            target_leases.extend(connection, self.worker, clock.now(), seconds=self.lease_seconds)
            self._extended = time.monotonic()

    def _conclude(self, connection: Connection) -> None:
        """Count the strikes, unless the run was stopped halfway: it may have seen only what is gone."""
        if self._under_way:
            return
        done = self._looks.conclude(connection, self.run.id, clock.now())
        self.run.counters["gone"] = done.gone
        if done.mass_gone:
            self.run.reasons["targets/mass_gone"] = len(done.mass_gone)
        runs.record(connection, self.run.id, {}, {"gone": done.gone, "reasons": dict(self.run.reasons)})

    def _release(self, connection: Connection) -> None:
        target_leases.release(connection, self.worker)

    def _subject(self, target: LeasedTarget) -> Subject | None:
        try:
            adapter = adapter_of(target.adapter_id, target.selectors)
        except UserError:
            return None
        return Subject(adapter, target.source_id, target.listing_id, target.id, target.earlier)

    async def _refuse(self, target: LeasedTarget, subject: Subject | None) -> None:
        """A target that is not even asked for: a person blocked it, or its adapter is not there any more."""
        outcome, reason = TargetOutcome.FAILED, f"there is no adapter {target.adapter_id}"
        if subject is not None:
            outcome, reason = TargetOutcome.DROPPED, DropReason.BLOCKED_BY_ROBOTS_TXT
        self.run.note(f"targets/{outcome.lower()}")
        await self._record(target.id, outcome, reason)
        self._print(LookResult(target.url, "drop", reason))

    # How a look ends: one of the four below, each with the outcome in the transaction of what it stores.

    async def parse_product(self, response: Response, subject: Subject) -> AsyncIterator[ProductPage]:
        if subject.target_id is None:
            # One page that is only looked at.
            self._show(self.read_product(response, subject), subject)
            return
        async for item in super().parse_product(response, subject):
            yield item

    def may_follow(self, response: Response, subject: Subject) -> bool:
        return subject.target_id is not None and is_permanent(response.meta.get("redirect_reasons", []))

    async def product_read(
        self, response: Response, subject: Subject, result: ProductPage | ExtractFailure
    ) -> ProductPage | ExtractFailure:
        if subject.target_id is not None and leads_elsewhere(response) and self.may_follow(response, subject):
            result = await self._follow(response, subject, self._leased[subject.target_id], result)
        if self.plan.url is not None:
            self._show(deepcopy(result), subject)
        return result

    async def _follow(
        self,
        response: Response,
        subject: Subject,
        target: LeasedTarget,
        result: ProductPage | ExtractFailure,
    ) -> ProductPage | ExtractFailure:
        """A page that moved for good: its target follows if the ids are the same, else a person decides."""
        read = result
        if isinstance(read, ExtractFailure):
            if read.reason in NOT_SHOWN or not isinstance(response, TextResponse):
                return read
            read = self.product_page(response, subject, None, None, read.evidence)
            if isinstance(read, ExtractFailure):
                return read
        offer = read.offer
        held_as = identity_key(None, None, target.canonical_url)

        def decide(connection: Connection) -> tuple[str | None, bool]:
            why = moves.follow(connection, target.id, offer, by="pricewatch", now=clock.now())
            again = moves.was_rejected(connection, target.source_id, held_as, response.url)
            return why, again

        why, rejected = await self.run.call(decide)
        if why is None:
            self.run.note("targets/moved")
            return read
        if rejected:
            details = f"{asked_url(response)} led to another page, and a person said that it is not the same"
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, details)
        addresses = {"moved_from": target.url, "moved_to": response.url}
        read.held = Quarantine(
            QuarantineReason.MOVED,
            {"why": why, **addresses},
            None if isinstance(result, ExtractFailure) else offer,
        )
        # Held once for each target, wherever its address leads.
        offer.identity_key = held_as
        return read

    async def product_unread(
        self, subject: Subject, reason: str, *, gone: bool, answered: bool, response: Response | None
    ) -> None:
        if subject.target_id is None or reason == "crawl_ending":
            # A look that stores nothing; or not tried at all, and given back when the run ends.
            return
        outcome, why = TargetOutcome.FAILED, str(reason)
        if reason == FailureReason.OOS_NO_PRICE:
            outcome = TargetOutcome.DROPPED
        elif reason == "robots":
            outcome, why = TargetOutcome.DROPPED, DropReason.BLOCKED_BY_ROBOTS_TXT
        listing_id, now = subject.listing_id, clock.now()
        look = self._look(subject, reason, response)

        def note(connection: Connection) -> None:
            if listing_id is not None and not gone and reason not in NOT_ASKED:
                details.note_look(connection, listing_id, unread_at(reason, now))
            if look is not None and look.attempt is Attempt.ALIVE:
                self._clear_doubt(connection, look)
            if listing_id is not None and reason == FailureReason.OOS_NO_PRICE:
                note_out_of_stock(connection, listing_id, now, self.run.id, subject.adapter.version)

        if look is not None:
            self._looks.add(subject.source_id, self._leased[subject.target_id].canonical_url, look)
        found = _found(look)
        await self._record(subject.target_id, outcome, why, note, found=found)

    def _look(self, subject: Subject, reason: str, response: Response | None) -> Look | None:
        """What a page without an offer says about its listing; None where nothing was stored of it yet."""
        if subject.listing_id is None or subject.target_id is None:
            return None
        if response is None or reason in NOT_SHOWN:
            return Look(subject.listing_id, Attempt.TROUBLE)
        target = self._leased[subject.target_id]
        return self.look_at(subject.listing_id, target.url, response, subject.adapter)

    def _clear_doubt(self, connection: Connection, look: Look) -> None:
        """The page is there: strikes are forgotten, and what was gone is back."""
        candidate = verification.doubted(connection, look.listing_id)
        if candidate is not None:
            verification.record_attempts(connection, [evidence_row(look, self.run.id, strike=False)])
            verification.apply(connection, self.run.id, [listing_row(candidate, look, self.run.id)], look.at)

    def _page_was_there(self, connection: Connection, item: ProductPage) -> None:
        """A page that was read although nothing of it is stored; one that says it is sold clears nothing."""
        if item.listing_id is not None and item.offer.availability is not Availability.SOLD:
            final_url = item.offer.fetch_url
            look = Look(item.listing_id, Attempt.ALIVE, final_url=final_url, reason="the page was read")
            self._clear_doubt(connection, look)

    async def product_dropped(self, item: ProductPage, drop: Drop) -> None:
        if item.target_id is not None:
            await super().product_dropped(item, drop)
            self._looks.add(item.offer.source, item.offer.url, None)
            await self._record(
                item.target_id,
                TargetOutcome.DROPPED,
                drop.reason,
                lambda connection: self._page_was_there(connection, item),
                found=True,
            )

    def product_stored(self, connection: Connection, item: ProductPage, tally: Tally) -> None:
        if item.target_id is None:
            return
        outcome, reason, identity = TargetOutcome.SUCCESS, None, (item.offer.source, item.offer.identity_key)
        if item.held is not None:
            outcome, reason = TargetOutcome.QUARANTINED, str(item.held.reason)
        elif tally.held:
            outcome, reason = TargetOutcome.QUARANTINED, str(QuarantineReason.VALIDATION_FAILED)
        elif tally.refused:
            outcome, reason = TargetOutcome.FAILED, f"refused by the database: {tally.refused[0][1]}"
        stored = item.held is None and not tally.refused
        moved = item.held is not None and item.held.reason is QuarantineReason.MOVED
        if item.held is not None and not moved:
            self._page_was_there(connection, item)
        target = self._leased[item.target_id]
        if stored and target.last_reason == QuarantineReason.MOVED:
            moves.settle_held(connection, target, accepted=False, note="its page is back", now=clock.now())
        found = None if moved else True
        self._write_outcome(
            connection, item.target_id, outcome, reason, identity if stored else None, found=found
        )

    async def product_failed(self, failure: Failure) -> None:
        await super().product_failed(failure)
        request: Request = failure.request  # type: ignore[attr-defined]
        outcome, status, error = outcome_of(failure)
        self._print(LookResult(request.url, "failed", reason_of(failure, outcome, status), error))

    def _item_scraped(self, item: Any) -> None:
        if isinstance(item, ProductPage) and item.target_id is not None:
            moved = item.held is not None and item.held.reason is QuarantineReason.MOVED
            look = Look(item.listing_id or 0, Attempt.TROUBLE) if moved else None
            self._looks.add(item.offer.source, item.offer.url, look)
            self._finished(item.target_id)

    async def _record(
        self,
        target_id: int,
        outcome: TargetOutcome,
        reason: str,
        *notes: Note,
        found: bool | None = None,
    ) -> None:
        def also(connection: Connection, _: Tally) -> None:
            self._write_outcome(connection, target_id, outcome, reason, None, found=found)
            for note in notes:
                note(connection)

        await self.run.write(Unit([], also))
        self._finished(target_id)

    def _write_outcome(
        self,
        connection: Connection,
        target_id: int,
        outcome: TargetOutcome,
        reason: str | None,
        identity: tuple[str, str] | None,
        *,
        found: bool | None,
    ) -> None:
        kept = target_leases.record(
            connection,
            self._leased[target_id],
            self.worker,
            outcome,
            reason,
            clock.now(),
            run_id=self.run.id,
            identity=identity,
            found=found,
            most_failures=self.crawler.settings.getint("TARGETS_FAILURES_TO_BE_BROKEN"),
        )
        if not kept:
            self.logger.warning("The lease of target %d ran out; another worker has it", target_id)

    def _finished(self, target_id: int) -> None:
        self._done += self._under_way.pop(target_id, None) is not None
        self._changed.set()

    def _show(self, result: ProductPage | ExtractFailure, subject: Subject) -> None:
        url = self.plan.url or ""
        if isinstance(result, ExtractFailure):
            self._print(LookResult(url, "failed", result.reason, result.details, evidence=result.evidence))
            return
        verdict = judge(result.offer, subject.adapter, result.held)
        shown = result_of(url, result.offer, verdict, result.evidence, self.plan.known)
        shown.stored = subject.target_id is not None and shown.status in ("ok", "quarantine")
        self._print(shown)

    def _print(self, result: LookResult) -> None:
        """To whoever asked for this one page: on the terminal, and on the run's row."""
        if self.plan.url is not None:
            self.run.progress["result"] = result.as_json()
            print("\n".join(lines_of(result)), flush=True)


def _found(look: Look | None) -> bool | None:
    """Whether the page is there, where the look tells."""
    if look is None or look.attempt is Attempt.TROUBLE:
        return None
    return look.attempt is Attempt.ALIVE


def limits_of(settings: Any) -> Limits:
    return Limits(
        most_pending=settings.getint("TARGETS_MOST_PENDING"),
        most_pending_per_source=settings.getint("TARGETS_MOST_PENDING_PER_SOURCE"),
        longest_backlog=3600 * settings.getfloat("TARGETS_LONGEST_BACKLOG_HOURS"),
        retry_after=settings.getfloat("TARGETS_RETRY_AFTER_SECONDS"),
        longest_pause=60 * settings.getfloat("TARGETS_LONGEST_PAUSE_MINUTES"),
    )


def pace_of(settings: Any) -> Pace:
    return Pace(settings.getfloat("REQUESTS_PER_SECOND"), settings.getfloat("MIN_DELAY_MS") / 1000)
