"""books.toscrape.com, as docs/adding-a-site.md declares it, on pages written after its shape."""

from __future__ import annotations

import pytest

from tests.adapters.site_fixtures import cases, check


@pytest.mark.parametrize("case", cases("books_toscrape"))
def test_saved_page(case):
    check("books_toscrape", case)
