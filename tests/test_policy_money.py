"""Policy: amounts never appear without their currency."""

from __future__ import annotations

import ast
import re

import pytest

from tests.source_files import FILES, READERS, TEMPLATES, name, room

# The sample marketplace imports nothing of ours, and a migration is about the columns of its own time.
MONEY_ROOMS = {"money.py", "bazaar"}
# Amounts without their currency: scaled by 100 whatever the currency, shown with two decimals, summed up.
BARE_MONEY = re.compile(
    r"[*/]\s*100\b|\.2f\b|quantize\(Decimal\(\"0?\.01\"\)\)|\bfrom_cents\b"
    r"|\b(?:min|max|sum|avg|greatest|least)\(\s*(?:DISTINCT\s+)?(?:\w+\.)?(?:\w*_cents|currency)\b",
    re.IGNORECASE,
)
# What an amount may be compared with by itself: the limits of every price.
LIMITS = {"MIN_CENTS", "MAX_CENTS"}


def _is_bare_amount(node: ast.expr) -> bool:
    """Whether an expression is an amount by its name, which says nothing of its currency."""
    said = ast.unparse(node)
    return re.search(r"(?:_cents|\bcents)(?:['\"]\])?$", said) is not None


def bare_money(source: str, *, one_currency: bool = False) -> list[str]:
    """The lines of a module that count, compare or show amounts without their currency."""
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


def test_money_is_an_amount_with_its_currency() -> None:
    """Everything else is `pricewatch.money`'s; what reads a page compares amounts of one currency."""
    for path in FILES:
        if room(path) not in MONEY_ROOMS and "migrations" not in path.parts:
            one_currency = room(path) in {"parsing", *READERS}
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
        "apart = abs(held_cents - seen_cents)",
        "cheapest = row['price_cents'] < other['price_cents']",
        'text = f"{price:.2f} {currency}"',
        'text = f"{from_cents(cents, currency)} {currency}"',
    ],
)
def test_money_the_old_way_is_noticed(line: str) -> None:
    assert bare_money(line)
