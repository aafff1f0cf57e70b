"""Attributes of ammunition from its title and description: calibre, bullet, case, weight and count."""

from __future__ import annotations

import re
from typing import Any

# Pattern and canonical name; of two patterns with a common start, the longer one comes first.
CALIBRES = {
    r"9\s?mm(?: luger| parabellum)?|9x19(?:\s?mm)?": "9mm Luger",
    r"5\.56(?:x45)?(?:\s?mm)?(?: nato)?": "5.56x45mm NATO",
    r"\.?223(?: rem(?:ington)?)?": ".223 Remington",
    r"7\.62x39(?:\s?mm)?": "7.62x39mm",
    r"7\.62x51(?:\s?mm)?(?: nato)?": "7.62x51mm NATO",
    r"7\.62x54r?(?:\s?mm)?": "7.62x54R",
    r"5\.45x39(?:\s?mm)?": "5.45x39mm",
    r"\.?308(?: win(?:chester)?)?": ".308 Winchester",
    r"\.?300 (?:aac )?blackout|300 blk": ".300 Blackout",
    r"\.?30-06(?: springfield)?": ".30-06 Springfield",
    r"6\.5 creedmoor": "6.5 Creedmoor",
    r"\.?45 (?:acp|auto)": ".45 ACP",
    r"\.?40 s&w": ".40 S&W",
    r"\.?380 (?:acp|auto)": ".380 ACP",
    r"\.?38 sp(?:ecial|l)": ".38 Special",
    r"\.?357 mag(?:num)?": ".357 Magnum",
    r"\.?44 mag(?:num)?": ".44 Magnum",
    r"10\s?mm(?: auto)?": "10mm Auto",
    r"\.?22 (?:lr|long rifle)": ".22 LR",
    r"\.?22 (?:wmr|mag(?:num)?)": ".22 WMR",
    r"\.?17 hmr": ".17 HMR",
    r"12 (?:ga|gauge)": "12 gauge",
    r"20 (?:ga|gauge)": "20 gauge",
}
# "Steel core" describes a bullet; only "steel case" and "case: steel" describe a case.
CASES = {
    r"nickel[- ]plated brass[- ]cas(?:ed?|ings?)": "nickel-plated brass",
    r"brass[- ]cas(?:ed?|ings?)|cas(?:e|ing)(?: material)?\s*:\s*brass": "brass",
    r"steel[- ]cas(?:ed?|ings?)|cas(?:e|ing)(?: material)?\s*:\s*steel": "steel",
    r"aluminum[- ]cas(?:ed?|ings?)|cas(?:e|ing)(?: material)?\s*:\s*aluminum": "aluminum",
}
BULLETS = {
    "fmj|full metal jacket": "FMJ",
    "jhp|jacketed hollow point": "JHP",
    "bthp|otm|hpbt": "BTHP",
    "hp|hollow point": "HP",
    "jsp|sp|soft point": "SP",
    "tmj|total metal jacket": "TMJ",
    "lrn|lead round nose": "LRN",
    "buckshot": "buckshot",
    "slug": "slug",
}
NUMBERS = {
    "grain_weight": re.compile(r"(?<![\d.,])(\d{2,3}(?:\.5)?)[- ]?(?:grains?|gr)\b"),
    "round_count": re.compile(r"(?<![\d.,])(\d{1,3}(?:,\d{3})|\d{1,5})[- ]?(?:rounds?|rds?)\b"),
}
_WHOLE = r"(?<![\w.])(?:{})(?!\w)"
TABLES = {
    "caliber": {name: re.compile(_WHOLE.format(one)) for one, name in CALIBRES.items()},
    "bullet_type": {name: re.compile(_WHOLE.format(one)) for one, name in BULLETS.items()},
    "case_material": {name: re.compile(_WHOLE.format(one)) for one, name in CASES.items()},
}


def ammunition(title: str, description: str) -> dict[str, Any]:
    """Attributes from the title, or else from the description; the first match of each counts."""
    found: dict[str, Any] = {}
    for text in (title.lower(), description[:20_000].lower()):
        for name, pattern in NUMBERS.items():
            if match := pattern.search(text):
                found.setdefault(name, float(match[1].replace(",", "")))
        for name, table in TABLES.items():
            if starts := [(hit.start(), value) for value, one in table.items() if (hit := one.search(text))]:
                found.setdefault(name, min(starts, key=lambda start: start[0])[1])
    return found
