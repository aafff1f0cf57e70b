"""Tables of texts with a number: one row for each language, texts separated by semicolons.

The sign # is the number with its currency.
"""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.parsing.prices.price_roles import Role


def role_cases(tables: dict[Role, str]) -> list[Any]:
    """The texts before and after each number, in lower case, with the role that is expected."""
    return [
        pytest.param(*text.strip().lower().split("#"), role, id=f"{role.name}-{row.strip()[:2]}-{number}")
        for role, table in tables.items()
        for row in table.strip().splitlines()
        for number, text in enumerate(row.strip()[3:].split(";"))
    ]
