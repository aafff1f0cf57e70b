"""books.toscrape.com as declared in docs/adding-a-site.md, on handwritten pages with its structure."""

from __future__ import annotations

import pytest

from tests.adapters.site_fixtures import cases, check


@pytest.mark.parametrize("case", cases("books_toscrape"))
def test_saved_page_gives_the_expected_result(case):
    check("books_toscrape", case)
