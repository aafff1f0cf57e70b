"""A declared shop, and a fixture that writes its file."""

from __future__ import annotations

import pytest

from pricewatch import adapters

SHOP = """
domain = "teashop.example"
currency = "EUR"
pages = "?p={page}"
search = "/suche?q={keyword}"

[overview]
card = "li.tea"
next = "a.weiter"
title = "h2"
price = ".preis"
id = { css = "::attr(data-artikel)", pattern = "^art-(.+)" }
sold = ".weg"

[product]
title = "h1"
price = ".preis"
availability = ".lager"
buy = "button.kaufen"
gone = { css = ".hinweis", pattern = "nicht mehr im Sortiment" }
[product.attributes]
origin = ".herkunft"

[words]
"Trifft bald ein" = "BACKORDER"
"""


@pytest.fixture
def declare(tmp_path, monkeypatch):
    """Write a shop's file into the user's directory and return its adapter."""
    monkeypatch.setenv("PRICEWATCH_SHOPS", str(tmp_path))

    def declare(text: str = SHOP, name: str = "teashop"):
        (tmp_path / f"{name}.toml").write_text(text, "utf-8")
        return adapters.get(name)

    return declare
