"""The weight of each feature of an amount; the score of the amount is their sum.

The weights are fitted by `python -m tests.bench.fit_weights`, by cross-validation over shops. A positive
weight speaks for the price, a negative one against it; only differences of scores count.
"""

from __future__ import annotations

from collections.abc import Iterable

# The best amount is accepted if its score exceeds that of the second by this much.
MARGIN = 0.5

WEIGHTS: dict[str, float] = {
    # Who else says so
    "microdata says so": 1.0,
    "json-ld says so": 2.0,
    "rdfa says so": 1.0,
    "meta says so": 0.8,
    "state says so": 0.5,
    "two kinds of data say so": 0.3,
    "form field or attribute says so": 0.5,
    "usual place": 1.0,
    "data says another price": -1.0,
    "not displayed": 0.3,
    # Where it stands
    "first price after the title": 1.3,
    "in main block": 0.5,
    "outside main block": -0.8,
    "near the button": -0.1,
    "near the title": 0.3,
    "before the title": -0.2,
    "one of a list": -0.7,
    # What stands beside it
    "beside a higher list price": 1.1,
    "beside a lower price": -0.3,
    "beside a higher price": -0.3,
    "words beside it": -1.8,
    "in a sentence": -0.2,
    # What it looks like
    "class says sale": 0.2,
    "no currency mark": -0.1,
    "alone in its tag": -0.3,
    "large text": -0.5,
    # Its role, by the words and classes around it
    "role current": 0.7,
    "role extra": -0.2,
    "role list": -0.9,
    "role regular": 0.2,
}


def score_of(features: Iterable[str]) -> float:
    return round(sum(WEIGHTS.get(name, 0.0) for name in features), 1)
