"""Compare the stored listings with the truth of the marketplace. Pure functions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import timedelta

from pricewatch.bazaar.client import TruthListing
from pricewatch.simulation.audit_results import AuditRule, AuditVerdict
from pricewatch.simulation.audited_listings import (
    CLOCK_TOLERANCE,
    AuditedListing,
    AuditRow,
    CrawlCoverage,
    DatedPrice,
    PricePeriod,
    periods_at,
    price_periods,
)
from pricewatch.simulation.time_spans import OpenSpan, any_inside, join_adjacent

LISTED_STATES = ("on_sale", "out_of_stock")
# An unlisted product is still online, but no overview page shows it.
ONLINE_STATES = (*LISTED_STATES, "unlisted")
# A page may show this and no price: the row then repeats the last price.
WITHOUT_PRICE = ("SOLD", "OUT_OF_STOCK")
# The page of a deleted product redirects to another page, as the pages of a shop that moved do.
REDIRECTS = ("to_similar", "to_category")
# The outcome of verification for a listing that was not seen for too long.
EXPIRED = "expired"
# The shortest time after which a listing of the simulated market expires.
EXPIRES_AFTER = timedelta(hours=26)
# So many listings that vanish at once also look like a shop that moved its pages.
MASS = 20
# The stored availability for the stock that pages show. If they show none, it is LISTED or stays as it was.
AVAILABILITY = {
    "in": "IN_STOCK",
    "out": "OUT_OF_STOCK",
    "backorder": "BACKORDER",
    "preorder": "BACKORDER",
    "sold": "SOLD",
}
NO_STOCK_SHOWN = (None, "unknown")


def audit_listings(
    truth: Iterable[TruthListing], stored: dict[str, AuditedListing], coverage: CrawlCoverage
) -> AuditVerdict:
    """Check all rules about single listings; `stored` has the listings by the path of their URL."""
    verdict = AuditVerdict()
    truth = list(truth)
    gone_together = Counter(true.spans[-1][0] for true in truth if true.state not in ONLINE_STATES)
    for true in truth:
        paths = [true.url, *true.urls, *true.other_urls]
        found = {listing.id: listing for path in paths if (listing := stored.get(path)) is not None}
        periods = list(price_periods(true))
        listed = _spans(each for each in periods if coverage.is_listed(each.shown))
        if any_inside(coverage.cycles, listed):
            verdict.check(AuditRule.NOT_KNOWN, bool(found), true.url)
        if not found:
            continue
        verdict.check(AuditRule.STORED_TWICE, len(found) == 1, f"{true.url} as {sorted(found)}")
        listing = next(iter(found.values()))
        _check_prices(verdict, true, listing, periods, coverage)
        _check_history(verdict, true, listing, periods)
        _check_gone_checks(verdict, true, listing, periods)
        is_mass = gone_together[true.spans[-1][0]] >= MASS
        _check_active(verdict, true, listing, periods, coverage, is_mass)
    return verdict


def _check_prices(
    verdict: AuditVerdict,
    true: TruthListing,
    listing: AuditedListing,
    all_periods: list[PricePeriod],
    coverage: CrawlCoverage,
) -> None:
    """Check that prices shown for a whole sweep are in the history, and the last one in the listing."""
    by_amount: dict[tuple[int, str | None], list[PricePeriod]] = defaultdict(list)
    for period in all_periods:
        if coverage.is_priced(period.shown):
            by_amount[period.amount].append(period)
    in_history = {(row.price_cents, row.currency) for row in listing.history}
    has_seen_price = False
    for amount, periods in by_amount.items():
        spans = _spans(periods)
        if not any_inside(coverage.cycles, spans):
            continue
        has_seen_price = True
        verdict.check(AuditRule.NO_ROW, amount in in_history, f"{true.url} {_money(amount)}")
        if spans[-1][1] is None and listing.active and any_inside(coverage.cycles[-1:], spans[-1:]):
            stored = (listing.price_cents, listing.currency)
            verdict.check(
                AuditRule.STALE, stored == amount, f"{true.url} {_money(amount)}, stored {_money(stored)}"
            )
    if true.state in ONLINE_STATES and listing.active and has_seen_price:
        verdict.check(AuditRule.WITHOUT_PRICE, listing.price_cents is not None, true.url)


def _check_history(
    verdict: AuditVerdict, true: TruthListing, listing: AuditedListing, periods: list[PricePeriod]
) -> None:
    """Check that each history row, and the time of each price, matches what was shown at that time."""
    previous: AuditRow | None = None
    for row in listing.history:
        verdict.check(
            AuditRule.REPEATED,
            previous is None or previous[1:] != row[1:],
            f"{true.url} {row.at:%Y-%m-%d %H:%M}",
        )
        current = periods_at(periods, row.at)
        amount = (row.price_cents, row.currency)
        is_carried_over = (
            previous is not None
            and amount == (previous.price_cents, previous.currency)
            and (row.availability in WITHOUT_PRICE or not all(each.shown.card_price for each in current))
        )
        if not is_carried_over:
            amounts = {each.amount for each in current if each.shows_price}
            verdict.check(
                AuditRule.PRICE_NEVER_SHOWN, amount in amounts, f"{true.url} {_money(amount)} at {row.at}"
            )
        allowed = _allowed_availability(
            current, page_was_read=listing.page_reads is None or row.at in listing.page_reads
        )
        if previous and _may_lack_stock(current):
            allowed.add(previous.availability)
        verdict.check(
            AuditRule.AVAILABILITY_NEVER_SHOWN,
            row.availability in allowed,
            f"{true.url} {row.availability} at {row.at}",
        )
        previous = row
    for dated in listing.dated_prices:
        description = f"{true.url} {_money((dated.price_cents, dated.currency))} dated {dated.at}"
        verdict.check(AuditRule.WRONG_AGE, _was_shown(dated, periods_at(periods, dated.at)), description)


def _check_gone_checks(
    verdict: AuditVerdict, true: TruthListing, listing: AuditedListing, periods: list[PricePeriod]
) -> None:
    """Check that no verification found the listing gone while it was online all the time."""
    online = _online_spans(true)
    for began, at, outcome in listing.gone_checks:
        checked = (min(began, at - CLOCK_TOLERANCE), at)
        if outcome == EXPIRED:
            # Expiry is about the whole time without a sighting: the listing may have just come back.
            checked = (at - EXPIRES_AFTER, at)
            if not _is_detectable(true, periods_at(periods, at)):
                continue
        verdict.check(
            AuditRule.WRONGLY_GONE, not any_inside([checked], online), f"{true.url} {outcome} at {at}"
        )


def _check_active(
    verdict: AuditVerdict,
    true: TruthListing,
    listing: AuditedListing,
    periods: list[PricePeriod],
    coverage: CrawlCoverage,
    is_mass: bool,
) -> None:
    """Check that an online listing is active, and that one that is gone is inactive after its grace."""
    last_begins, _, last_state, mode = true.spans[-1]
    if last_state in ONLINE_STATES:
        # No sweep has seen a listing yet that came back after the last sweep.
        online_since = _online_spans(true)[-1][0]
        listed = _spans(each for each in periods if coverage.is_listed(each.shown))
        since_then = [span for span in listed if span[0] >= online_since]
        if any_inside(coverage.cycles, since_then) and _is_detectable(true, periods):
            verdict.check(AuditRule.INACTIVE, listing.active, f"{true.url} since {online_since}")
        return
    grace = coverage.long_grace if is_mass or mode in REDIRECTS else coverage.grace
    if grace is not None and sum(at > last_begins + grace for at in coverage.check_times) >= 2:
        verdict.check(
            AuditRule.STILL_ACTIVE,
            not listing.active,
            f"{true.url} since {last_begins} ({mode or last_state})",
        )


def _online_spans(true: TruthListing) -> list[OpenSpan]:
    return join_adjacent((begins, ends) for begins, ends, state, _ in true.spans if state in ONLINE_STATES)


def _spans(periods: Iterable[PricePeriod]) -> list[OpenSpan]:
    return join_adjacent(period.span for period in periods)


def _is_detectable(true: TruthListing, periods: list[PricePeriod]) -> bool:
    """Whether a crawl without JavaScript can see that the listing is online: on its page or on a list."""
    return true.markup != "js" or bool(periods and periods[-1].shown.listed)


def _was_shown(dated: DatedPrice, periods: list[PricePeriod]) -> bool:
    """Whether a card showed the price, or the product page did and was read then."""
    page_was_read = dated.read_at is not None and abs(dated.at - dated.read_at) <= CLOCK_TOLERANCE
    amount = (dated.price_cents, dated.currency)
    return any(
        each.amount == amount and (each.shown.card_price or (each.shown.page_price and page_was_read))
        for each in periods
    )


def _allowed_availability(periods: list[PricePeriod], *, page_was_read: bool) -> set[str]:
    """Return every availability that may be stored; a page that was not read cannot show "in stock"."""
    stocks = {each.shown.card_stock for each in periods}
    stocks |= {each.shown.page_stock for each in periods if page_was_read or each.shown.page_stock != "in"}
    allowed = {AVAILABILITY[stock] for stock in stocks if stock not in NO_STOCK_SHOWN}
    return allowed | {"LISTED"} if _may_lack_stock(periods) else allowed


def _may_lack_stock(periods: list[PricePeriod]) -> bool:
    """Whether a card or a page did not show the stock."""
    return any(
        each.shown.card_stock in NO_STOCK_SHOWN or each.shown.page_stock in NO_STOCK_SHOWN for each in periods
    )


def _money(amount: tuple[int | None, str | None]) -> str:
    return f"{amount[0]} {amount[1]}"
