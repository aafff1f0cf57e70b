"""Fit the weights of the price features, by cross-validation over shops.

    python -m tests.bench.fit_weights [DIR]

Prints the table for `pricewatch/generic_reader/price_weights.py`, fitted on all pages of DIR and on our own
pages of shop systems, and compares it with the current one. The figures that count are those of
`python -m tests.bench.extraction`: there, the weights for the pages of a shop are fitted without that shop.

The model is a conditional logit: the score of an amount is the sum of the weights of its features, and among
the amounts of a page the probability that one is the price grows with its score.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np
from scrapy.http import HtmlResponse

from pricewatch.generic_reader.page_amounts import PRICE_ROLES
from pricewatch.generic_reader.page_reading import read
from pricewatch.generic_reader.price_features import add_features
from pricewatch.generic_reader.price_weights import WEIGHTS
from tests.bench.metric import Skipped
from tests.bench.saved_pages import SavedPage, own_pages, page_folder, real_pages

# Strength of the pull to the prior: a feature that is seen in few shops stays near it, all others near zero.
RIDGE = 0.003
PRIOR = {
    "json-ld says so": 1.0,
    "microdata says so": 1.0,
    "rdfa says so": 1.0,
    "meta says so": 0.5,
    "state says so": 0.5,
    "usual place": 1.0,
    "form field or attribute says so": 0.5,
}
STEPS = 400
RATE = 0.05
# Weight of one of our own pages compared with a real shop.
OWN_PAGE = 0.25

Weights = dict[str, float]


@dataclass(slots=True)
class Example:
    """A page: the features of each amount that may be a price, and which of them are right."""

    shop: str
    features: list[frozenset[str]]
    right: list[bool]


def examples_of(pages: list[SavedPage]) -> list[Example]:
    found = []
    for page in pages:
        reading = read(HtmlResponse(page.url, body=page.body))
        if reading is None:
            continue
        add_features(reading.amounts, reading.amounts.amounts)
        # Amounts that are excluded by their place or words teach the weights of those features too.
        possible = [
            amount
            for amount in reading.amounts.amounts
            if amount.is_stated or any(one.role in PRICE_ROLES for one in amount.displayed)
        ]
        right = [amount.value in page.prices for amount in possible]
        if any(right):
            found.append(Example(page.shop, [amount.features for amount in possible], right))
    return found


def fit(examples: list[Example]) -> Weights:
    """The weights that make the right amounts most likely; each shop counts the same."""
    names = sorted({*PRIOR, *(name for one in examples for features in one.features for name in features)})
    column = {name: index for index, name in enumerate(names)}
    most = max(len(one.features) for one in examples)
    data = np.zeros((len(examples), most, len(names)))
    exists = np.zeros((len(examples), most), dtype=bool)
    target = np.zeros((len(examples), most))
    shops = Counter(one.shop for one in examples)
    shares = np.array(
        [(OWN_PAGE if one.shop.startswith("own ") else 1.0) / shops[one.shop] for one in examples]
    )
    for row, one in enumerate(examples):
        for index, features in enumerate(one.features):
            data[row, index, [column[name] for name in features]] = 1
        exists[row, : len(one.features)] = True
        right = [index for index, is_right in enumerate(one.right) if is_right]
        target[row, right] = 1 / len(right)
    prior = np.array([PRIOR.get(name, 0.0) for name in names])
    return dict(zip(names, _descend(data, exists, target, shares, prior), strict=True))


def _descend(
    data: np.ndarray, exists: np.ndarray, target: np.ndarray, shares: np.ndarray, prior: np.ndarray
) -> list[float]:
    """Minimise the loss with Adam; it starts at the prior, so that the result is deterministic."""
    weights = prior.copy()
    mean, variance = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        scores = np.where(exists, data @ weights, -np.inf)
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        slope = np.einsum("p,pc,pcf->f", shares, likely - target, data) / shares.sum() + RIDGE * (
            weights - prior
        )
        mean, variance = 0.9 * mean + 0.1 * slope, 0.99 * variance + 0.01 * slope**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(variance / (1 - 0.99**step)) + 1e-8)
    return [round(float(weight), 1) for weight in weights]


def main(arguments: list[str]) -> int:
    try:
        pages = real_pages(page_folder(arguments))
    except Skipped as skipped:
        print(f"skipped: {skipped}", file=sys.stderr)
        return 0
    examples = examples_of([*pages, *own_pages()])
    several = sum(len(one.features) > 1 for one in examples)
    shops = {one.shop for one in examples}
    print(f"# {len(examples)} pages of {len(shops)} shops, {several} with several amounts")
    fitted = fit(examples)
    for name in sorted({*fitted, *WEIGHTS}, key=lambda name: -fitted.get(name, 0.0)):
        print(f'    "{name}": {fitted.get(name, 0.0)},  # now {WEIGHTS.get(name, 0.0)}')
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
