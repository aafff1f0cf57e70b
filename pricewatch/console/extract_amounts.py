"""The amounts of a page for `scrapy extract`: a table with their scores, and why one was not chosen."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from pricewatch.errors import UserError

if TYPE_CHECKING:
    from pricewatch.adapters.base import AmountReport

HEADINGS = ("amount", "score", "verdict", "shown as", "features")


def asked_amount(text: str) -> Decimal:
    """The amount that a user asks about."""
    try:
        return Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        raise UserError(f"--why expects an amount. Example: 19.99 (not {text[:20]!r})") from None


def amount_rows(reports: list[AmountReport]) -> list[tuple[str, ...]]:
    return [
        (
            f"{report.amount} {report.currency}".strip(),
            f"{report.score:.1f}",
            verdict_of(report),
            report.text,
            ", ".join(features_of(report)),
        )
        for report in reports
    ]


def verdict_of(report: AmountReport) -> str:
    if report.is_chosen:
        return "chosen"
    return f"no: {report.excluded}" if report.excluded else "possible"


def features_of(report: AmountReport) -> list[str]:
    """The features of an amount with their weights, the strongest first."""
    return [f"{name} {weight:+.1f}" if weight else name for name, weight in report.features.items()]


def why_lines(reason: str, reports: list[AmountReport], amount: Decimal) -> list[str]:
    """The explanation why an amount was chosen or not."""
    report = next((one for one in reports if one.amount == amount), None)
    chosen = next((one for one in reports if one.is_chosen), None)
    if not reports:
        return ["This adapter does not weigh amounts: it reads the price at a fixed place.", reason]
    if report is None:
        found = ", ".join(str(one.amount) for one in reports[:12])
        return [f"{amount} was not found on the page. Found: {found}"]
    lines = [_headline(report)]
    if not report.is_chosen and not report.excluded:
        if chosen is not None:
            lines.append(f"{chosen.amount} has a higher score: {chosen.score:.1f}")
        else:
            lines.append(f"No price was chosen: {reason}")
    lines.extend(f"  {feature}" for feature in features_of(report))
    lines.extend(f"  found: {place}" for place in report.found)
    if chosen is not None and chosen is not report:
        lines.append(_headline(chosen))
        lines.extend(f"  {feature}" for feature in features_of(chosen))
    return lines


def _headline(report: AmountReport) -> str:
    money = f"{report.amount} {report.currency}".strip()
    return f"{money}: score {report.score:.1f}, {verdict_of(report)}"
