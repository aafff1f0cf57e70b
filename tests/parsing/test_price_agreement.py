"""One price from machine-readable fields and displayed texts."""

from __future__ import annotations

import pytest

from pricewatch.parsing.prices.price_agreement import agreed_price


@pytest.mark.parametrize(
    ("fields", "displayed", "cents"),
    [
        ([12000, 12000], ["€ 120"], 12000),
        ([None, 12000], [], 12000),
        ([], ["€ 120"], 12000),
        ([], ["€ 1.695,50"], 169550),
        ([], ["€ 250 VB"], 25000),
        ([25000], ["€ 250 VHB"], 25000),
        ([120000], ["€ 1.200 pro Monat"], 120000),
        # One field is rounded.
        ([86300, 86347], ["€ 863"], 86347),
        ([86347], ["€ 863"], 86347),
        # The displayed text decides, or contradicts all fields.
        ([120000, 100000], ["€ 1.200"], 120000),
        ([120000, 100000], [], None),
        ([12000], ["€ 450"], None),
        ([9900], ["Preis auf Anfrage"], None),
        ([], ["Zu verschenken"], None),
        # Not a single price.
        ([80000], ["ab € 800"], None),
        ([80000], ["€ 800 – € 1.200"], None),
        ([], ["ab € 800"], None),
        ([], ["€ 120", "€ 130"], None),
        ([], [], None),
    ],
)
def test_fields_and_text_must_agree_on_the_price(fields, displayed, cents):
    assert agreed_price(fields, displayed, "EUR") == cents
