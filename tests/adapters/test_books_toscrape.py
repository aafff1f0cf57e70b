"""books.toscrape.com, on saved pages."""

from __future__ import annotations

import pytest

from .site_fixtures import cases, check


@pytest.mark.parametrize("case", cases("books_toscrape"))
def test_saved_page(case):
    check("books_toscrape", case)
