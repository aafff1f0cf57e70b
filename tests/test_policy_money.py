"""Policy: amounts never appear without their currency."""

from __future__ import annotations

import ast
import re

import pytest

from tests.test_policy import FILES, READERS, TEMPLATES, name, package

# The sample marketplace imports nothing from pricewatch.
MONEY_PACKAGES = {"money.py", "bazaar"}
# Amounts without their currency: multiplied by 100, formatted with two decimals, or aggregated.
BARE_MONEY = re.compile(
    r"[*/]\s*100\b|\.2f\b|quantize\(Decimal\(\"0?\.01\"\)\)|\bfrom_cents\b"
    r"|\b(?:min|max|sum|avg|greatest|least)\(\s*(?:DISTINCT\s+)?(?:\w+\.)?(?:\w*_cents|currency)\b",
    re.IGNORECASE,
)
# The limits of every price, which may be compared with an amount alone.
LIMITS = {"MIN_CENTS", "MAX_CENTS"}


def _is_bare_amount(node: ast.expr) -> bool:
    """Whether the name of an expression is that of an amount without a currency."""
    return re.search(r"(?:_cents|\bcents)(?:['\"]\])?$", ast.unparse(node)) is not None


def bare_money(source: str, *, one_currency: bool = False) -> list[str]:
    """The lines of a module that calculate, compare or format amounts without their currency."""
    lines = source.splitlines()
    found = [line for line in lines if BARE_MONEY.search(line)]
    for node in () if one_currency else ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            is_order = any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops)
        elif isinstance(node, ast.BinOp):
            sides, is_order = [node.left, node.right], not isinstance(node.op, ast.BitOr | ast.Mod)
        else:
            continue
        others = [side for side in sides if not _is_bare_amount(side)]
        allowed = all(isinstance(side, ast.Constant) or ast.unparse(side) in LIMITS for side in others)
        if is_order and len(others) < len(sides) and not (others and allowed):
            found.append(lines[node.lineno - 1])
    return found


def test_amounts_are_used_with_their_currency() -> None:
    """Other code uses `pricewatch.money`; readers of a page compare amounts of one currency."""
    for path in FILES:
        if package(path) not in MONEY_PACKAGES and "migrations" not in path.parts:
            one_currency = package(path) in {"parsing", *READERS}
            assert not bare_money(path.read_text(), one_currency=one_currency), name(path)


def test_templates_show_money_with_its_currency() -> None:
    for path in TEMPLATES:
        text = path.read_text()
        assert not re.search(r"_cents\b(?!\"\))|\|money\(|" + BARE_MONEY.pattern, text), name(path)


@pytest.mark.parametrize(
    "line",
    [
        'value = Decimal(text.strip().replace(",", ".")) * 100',
        "moved = (reference - price if falls else price - reference) * 100",
        'sql = "min(l.currency) FILTER (WHERE l.active) AS currency"',
        "sql = \"min(l.price_cents) FILTER (WHERE l.availability = 'IN_STOCK') AS lowest_cents\"",
        "found = (min_price_cents or 0) <= price_cents <= (max_price_cents or price_cents)",
        "found = point.price_cents <= threshold_cents",
        "found = seen_cents > known_cents * factor",
        "difference = abs(stored_cents - seen_cents)",
        "cheapest = row['price_cents'] < other['price_cents']",
        'text = f"{price:.2f} {currency}"',
        'text = f"{from_cents(cents, currency)} {currency}"',
    ],
)
def test_amounts_without_currency_are_detected(line: str) -> None:
    assert bare_money(line)
