"""The weight of each feature of an amount; the score of the amount is their sum.

The weights are fitted by `python -m tests.bench.fit_weights`, by cross-validation over shops. A positive weight
speaks for the price, a negative one against it; that the page has no price has the score 0.
"""

from __future__ import annotations

from collections.abc import Iterable

# The best amount is accepted if its score exceeds that of the second, and 0, by this much.
MARGIN = 0.5

WEIGHTS: dict[str, float] = {
    # Who else says so
    "microdata says so": 1.5,
    "json-ld says so": 1.3,
    "rdfa says so": 1.0,
    "usual place": 1.0,
    "state says so": 0.5,
    "two kinds of data say so": 0.2,
    "meta says so": -0.1,
    "data says it is another amount": 0.6,
    "data says another price": -1.6,
    "not displayed": 0.6,
    # Where it stands
    "first price after the title": 1.3,
    "near the button": 0.7,
    "near the title": 0.2,
    "before the title": -0.1,
    "far from the title": -0.1,
    "repeated in main block": -0.4,
    "outside main block": -0.8,
    "one of a list": -1.5,
    # What stands beside it
    "beside a higher list price": 1.4,
    "beside a lower price": -0.6,
    "beside a higher price": -1.3,
    "words beside it": -1.2,
    "in a sentence": -0.9,
    # What it looks like
    "class says sale": 1.0,
    "class says price": 0.2,
    "attribute says price": -0.5,
    "alone in its tag": 0.6,
    "has decimals": 0.5,
    "large text": 0.3,
    # Its role, by the words and classes around it
    "role regular": 0.7,
    "role shipping": 0.7,
    "role per unit": 0.4,
    "role without tax": 0.1,
    "role extra": -0.3,
    "role bid": -0.4,
    "role list": -0.9,
    "role from": -1.0,
}


def score_of(features: Iterable[str]) -> float:
    return round(sum(WEIGHTS.get(name, 0.0) for name in features), 1)
