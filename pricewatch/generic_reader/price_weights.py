"""The weight of each feature; fitted by `python -m tests.bench.fit_weights`, over shops."""

from __future__ import annotations

from collections.abc import Iterable

# The best amount is accepted if its score exceeds the second by this much.
MARGIN = 0.5

WEIGHTS: dict[str, float] = {
    "microdata says so": 2.0,
    "json-ld says so": 1.5,
    "rdfa says so": 1.5,
    "meta says so": 0.5,
    "state says so": 0.5,
    "two kinds of data say so": 0.5,
    "data says another price": -1.6,
    "data says it is another amount": -0.4,
    "first price after the title": 1.5,
    "class says sale": 0.7,
    "class says price": 0.7,
    "repeated in main block": 0.7,
    "beside a higher list price": 0.7,
    "role regular": 0.0,
    "role current": 0.6,
    "near the title": 0.4,
    "has decimals": 0.4,
    "near the button": 0.2,
    "usual place": 1.5,
    "before the title": -0.6,
    "far from the title": -0.4,
    "beside a higher price": -0.5,
    "beside a lower price": -0.7,
    "one of a list": -0.8,
    "outside main block": -0.9,
    "in a sentence": -1.0,
    "words beside it": -1.5,
}


def score_of(features: Iterable[str]) -> float:
    return sum(WEIGHTS.get(name, 0.0) for name in features)
