"""Pages of the sites that have an adapter, with hostile content in their own structure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

from lxml import etree, html  # type: ignore[import-untyped]

from pricewatch.money import Money
from pricewatch.parsing.prices.price import to_cents
from tests.adapters.site_fixtures import cases, expected, page_body
from tests.hostile.corpus.hostile_page import HTML, Pages, kind, page
from tests.hostile.corpus.json_ld import GOOD, script

# The sites with the currencies of their prices.
SITES = {
    "willhaben": ("EUR",),
    "apartments": ("USD",),
    "mercari": ("JPY",),
    "sgammo": ("USD",),
    "bazaar": ("JPY", "USD"),
}
_NUMBER = re.compile(r"\d+(?:,\d+)*(?:\.\d+)?", re.ASCII)
_DATA = re.compile(rb"(<script[^>]*(?:json|__NEXT_DATA__)[^>]*>)(.*?)(</script>)", re.DOTALL)
ODD: tuple[Any, ...] = (
    None,
    True,
    [],
    {},
    "",
    [[]],
    -1,
    0,
    10**400,
    "9" * 100_000,
    "\x00\u202e",
    ["a"] * 20_000,
    {"id": {"id": {}}},
    1.5e300,
    "1e400",
)


def truncated(body: bytes, chance: Random) -> bytes:
    return body[: chance.randrange(len(body))]


def duplicated(body: bytes, chance: Random) -> bytes:
    """One node of the page 10,000 times, or as often as 1 MB holds."""
    if body.startswith(b"{"):
        return _changed_json(body, _duplicate, chance)
    root = html.fromstring(body.decode())
    victim = chance.choice(
        [one for one in root.iter() if isinstance(one.tag, str) and one.getparent() is not None]
    )
    text = etree.tostring(victim, encoding="unicode", method="html", with_tail=False)
    victim.tail = f"@copies@{victim.tail or ''}"
    copies = text * max(1, min(10_000, 900_000 // len(text)))
    return str(etree.tostring(root, encoding="unicode", method="html")).replace("@copies@", copies).encode()


def long_attribute(body: bytes, chance: Random) -> bytes:
    tags = [found.end() for found in re.finditer(rb"<[a-z0-9]+(?=[ >])", body)]
    if not tags:
        return body
    place = chance.choice(tags)
    name = chance.choice((b"class", b"id", b"href", b"data-id", b"data-price", b"data-listingid", b"x"))
    return (
        body[:place]
        + b" "
        + name
        + b'="'
        + chance.choice((b"a ", b"9", b"/", b"-")) * 200_000
        + b'"'
        + body[place:]
    )


def long_number(body: bytes, chance: Random) -> bytes:
    numbers = [found.span() for found in re.finditer(rb"(?<=[>\":])\$?\d[\d,.]*", body)]
    if not numbers:
        return body
    start, end = chance.choice(numbers)
    return (
        body[:start]
        + chance.choice((b"9" * 300_000, b"1e400", b"NaN", b"-1", b"1," * 50_000, b"0"))
        + body[end:]
    )


def other_charset(body: bytes, chance: Random) -> bytes:
    """Encoded as the header does not say."""
    encoding = chance.choice(("utf-16", "utf-32", "utf-7", "gb18030", "shift_jis", "iso-2022-jp", "cp037"))
    return body.decode().encode(encoding, "replace")


def other_values(body: bytes, chance: Random) -> bytes:
    """Values of JSON replaced by those of another type."""
    return _changed_json(body, _replace, chance)


def other_data(body: bytes, chance: Random) -> bytes:
    """JSON-LD that is broken, or larger than any real one."""
    data = (
        "[" * 60_000, '{"a":' * 900, json.dumps([json.loads(GOOD)] * 2_000), '\\"' * 50_000, long_list("offers"), long_list("name"),
    )  # fmt: skip
    return body.replace(b"</head>", script(chance.choice(data)).encode() + b"</head>", 1)


def long_list(key: str) -> str:
    return json.dumps({"@type": "Product", key: [{"price": "5"}] * 20_000})


def deeper(body: bytes, chance: Random) -> bytes:
    tag = chance.choice((b"div", b"article", b"ul", b"span", b"main"))
    place = body.find(b"<body")
    place = body.find(b">", place) + 1 if place >= 0 else 0
    return body[:place] + (b"<%s class=price>" % tag) * 1_900 + body[place:]


def repeated_whole(body: bytes, chance: Random) -> bytes:
    return body * max(2, 400_000 // len(body))


def noise(body: bytes, chance: Random) -> bytes:
    """Bytes of the markup that are replaced; digits stay, because nobody can see that they are wrong."""
    changed = bytearray(body)
    places = [place for place, byte in enumerate(body) if byte in b"<>\"'=/&;{}[]:,"]
    for place in chance.sample(places, min(len(places), 6)):
        changed[place] = chance.choice(b"<>\"'=/&{}[] \x00\xff")
    return bytes(changed)


MUTATIONS: tuple[Callable[[bytes, Random], bytes], ...] = (
    truncated, duplicated, long_attribute, long_number, other_charset, other_values, other_data, deeper, repeated_whole, noise,
)  # fmt: skip


def mutated(site: str, case: str, mutation: Callable[[bytes, Random], bytes]) -> bytes:
    return mutation(page_body(site, case), Random(f"{site} {case} {mutation.__name__}"))


def written_prices(body: bytes, currencies: tuple[str, ...]) -> str:
    """Every number of the original page as an amount; `tests/adapters` checks which of them is the price."""
    texts = _NUMBER.findall(body.decode())
    # 1,200 and 45,50 are written with the same comma.
    numbers = {Decimal(text.replace(",", "")) for text in texts}
    numbers |= {Decimal(text.replace(",", ".")) for text in texts if text.count(",") == 1 and "." not in text}
    prices = {Money.of(to_cents(number, currency), currency) for number in numbers for currency in currencies}
    return ", ".join(sorted(str(price) for price in prices if price))


@kind("pages of sites")
def pages_of_sites() -> Pages:
    for site, currencies in SITES.items():
        for case in cases(site):
            expectation, body = expected(site, case), page_body(site, case)
            shows = written_prices(body, currencies)
            media_type = "application/json" if body.startswith(b"{") else HTML["Content-Type"]
            for mutation in MUTATIONS:
                yield page(
                    f"{site} {case}, {mutation.__name__.replace('_', ' ')}",
                    mutated,
                    site,
                    case,
                    mutation,
                    shows=shows,
                    headers={"Content-Type": media_type},
                    url=expectation["url"],
                    status=expectation.get("status", 200),
                    adapters=(site,),
                )


def _changed_json(body: bytes, change: Callable[[Any, Random], None], chance: Random) -> bytes:
    """Change the JSON of a body, or of a script in it; a page without JSON stays as it is."""
    found = None if body.startswith(b"{") else _DATA.search(body)
    text = found[2] if found else body
    try:
        data = json.loads(text)
    except ValueError:
        return body
    change(data, chance)
    dumped = json.dumps(data).encode()
    return body[: found.start(2)] + dumped + body[found.end(2) :] if found else dumped


def _containers(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in (value,) if isinstance(one, (dict, list)) and one] + [
        row for one in inner for row in _containers(one)
    ]


def _replace(data: Any, chance: Random) -> None:
    for _ in range(3):
        place = chance.choice(_containers(data) or [[0]])
        place[chance.choice(list(place) if isinstance(place, dict) else range(len(place)))] = chance.choice(
            ODD
        )


def _duplicate(data: Any, chance: Random) -> None:
    lists = [one for one in _containers(data) if isinstance(one, list)] or [[0]]
    victim = chance.choice(lists)
    size = len(json.dumps(victim))
    victim.extend(victim * max(1, min(10_000, 900_000 // size)))
