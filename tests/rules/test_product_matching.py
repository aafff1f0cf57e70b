"""Matching listings to products: which keys are used, and which one decides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.rules.product_matching import (
    Facts,
    Keys,
    LinkedBy,
    brand_key,
    fingerprint,
    gtin14,
    keys_of,
    link,
    mpn_key,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4006381333931", "04006381333931"),
        ("400638 1333931", "04006381333931"),
        ("036000291452", "00036000291452"),
        ("96385074", "00000096385074"),
        ("10614141000415", "10614141000415"),
        # A wrong check digit, a wrong length, no number, empty.
        ("4006381333932", None),
        ("400638133393", None),
        ("12345", None),
        ("abc4006381333931", None),
        ("٤٠٠٦٣٨١٣٣٣٩٣١", None),
        ("0000000000000", None),
        ("", None),
        (None, None),
        # Numbers that shops assign themselves are not unique.
        ("2000000000008", None),
        ("0200000000004", None),
    ],
)
def test_gtin_is_normalized_or_refused(text: str | None, expected: str | None) -> None:
    assert gtin14(text) == expected


@given(st.integers(10**11, 10**12 - 1), st.integers(1, 9))
def test_one_wrong_digit_is_detected(body: int, added: int) -> None:
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(str(body)))
    check = -total % 10
    assert gtin14(f"{body}{(check + added) % 10}") is None


@pytest.mark.parametrize(
    ("brand", "key"),
    [("Müller GmbH & Co. KG", "muller"), ("BOSCH", "bosch"), ("N/A", None), ("Co", "co"), (None, None)],
)
def test_brand_is_normalized_or_refused(brand: str | None, key: str | None) -> None:
    assert brand_key(brand) == key


@pytest.mark.parametrize(
    ("mpn", "key"),
    [
        ("GSR 18V-55", "gsr18v55"),
        ("gsr18v-55", "gsr18v55"),
        ("n/a", None),
        ("000", None),
        ("ABC", None),
        ("1", None),
    ],
)
def test_part_number_is_normalized_or_refused(mpn: str, key: str | None) -> None:
    assert mpn_key(mpn) == key


def test_fingerprint_ignores_word_order_and_needs_enough_words() -> None:
    one = fingerprint("Bosch GSR 18V-55 Professional Akkuschrauber", "Bosch")
    assert one == fingerprint("Akkuschrauber, NEU: GSR 18V 55 professional (BOSCH)", "BOSCH GmbH")
    assert one != fingerprint("Bosch GSR 18V-60 Professional Akkuschrauber", "Bosch")
    for vague in ("Mountain bike", "Nice red city bike", "Bike 26"):
        assert fingerprint(vague, "Bosch") is None
    assert fingerprint("Akkuschrauber GSR 18V 55 professional", None) is None


def test_notes_say_why_a_key_is_not_used() -> None:
    untrusted = keys_of(Facts("Thing", "Bosch", "GSR 18V-55", "4006381333931", trusted=False))
    assert untrusted.gtin is None
    assert "not trusted" in untrusted.notes[0]
    assert keys_of(Facts("Thing", gtin="4006381333931", trusted=True)).gtin == "04006381333931"
    assert "check digit" in keys_of(Facts("Thing", gtin="4006381333932", trusted=True)).notes[0]
    assert "no known brand" in keys_of(Facts("Thing", mpn="GSR 18V-55")).notes[0]


GTIN, OTHER = "04006381333931", "00036000291452"
PAIR = "bosch gsr18v55"
BY_GTIN, BY_NUMBER, BY_WORDS, NOTHING = LinkedBy


@pytest.mark.parametrize(
    ("keys", "gtins", "products", "expected"),
    [
        # A trusted GTIN decides over everything else.
        (Keys(GTIN, PAIR, "f"), [OTHER], ["mpn:x"], (BY_GTIN, f"gtin:{GTIN}")),
        (Keys(None, PAIR, "f"), [], ["mpn:x"], (BY_NUMBER, f"mpn:{PAIR}")),
        # The same part number has one GTIN elsewhere: that is the product; with two it is ambiguous.
        (Keys(None, PAIR, "f"), [OTHER], [], (BY_NUMBER, f"gtin:{OTHER}")),
        (Keys(None, PAIR, "f"), [GTIN, OTHER], ["mpn:x"], (NOTHING, None)),
        (Keys(fingerprint="f"), [], [], (BY_WORDS, "words:f")),
        (Keys(fingerprint="f"), [], ["mpn:x"], (BY_WORDS, "mpn:x")),
        (Keys(fingerprint="f"), [], ["mpn:x", "gtin:1"], (NOTHING, None)),
        (Keys(), [GTIN], ["mpn:x"], (NOTHING, None)),
    ],
)
def test_the_strongest_key_decides(
    keys: Keys, gtins: list[str], products: list[str], expected: tuple[LinkedBy, str | None]
) -> None:
    found = link(keys, gtins, products)
    assert (found.by, found.key) == expected
    assert found.why
