"""Files of declared shops: where they are found, and messages about mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pricewatch import adapters
from pricewatch.declared_shops import shop_files
from pricewatch.errors import UserError
from tests.declared_shops.conftest import SHOP


def test_declared_shop_is_a_known_adapter(declare):
    adapter = declare()
    assert (adapter.id, adapter.version, adapter.domain) == ("teashop", "1.0.0", "teashop.example")
    assert "teashop" in adapters.known()
    assert adapters.for_domain("teashop.example") == "teashop"
    assert not adapter.requires_js
    assert adapter.start_pages({"keyword": "grüner tee"}) == ["/suche?q=gr%C3%BCner%20tee"]
    assert adapter.start_pages({"category": "oolong"}) == []


def test_declared_shop_takes_precedence_over_the_sample_marketplace(declare):
    assert adapters.for_domain("127.0.0.1") == "bazaar"
    declare(SHOP.replace("teashop.example", "127.0.0.1"))
    assert adapters.for_domain("127.0.0.1") == "teashop"


def test_changed_file_is_read_again(declare):
    declare()
    assert declare(SHOP.replace('currency = "EUR"', 'currency = "CHF"')).declaration.currency == "CHF"


def test_invalid_and_duplicate_names_are_rejected(declare, tmp_path):
    # The registered adapter still works; listing all adapters fails.
    assert declare(name="willhaben").domain == "willhaben.at"
    with pytest.raises(UserError, match="there is already an adapter of that name"):
        adapters.known()
    (tmp_path / "willhaben.toml").unlink()
    with pytest.raises(UserError, match="the name is not valid"):
        declare(name="Tea-Shop")


def test_broken_file_of_another_shop_is_only_logged(declare, tmp_path, caplog):
    declare()
    (tmp_path / "broken.toml").write_text("domain = ")
    assert adapters.for_domain("teashop.example") == "teashop"
    assert "broken.toml is not TOML" in caplog.text


def test_directory_of_the_user_is_configurable(monkeypatch, tmp_path):
    monkeypatch.delenv("PRICEWATCH_SHOPS", raising=False)
    monkeypatch.setenv("PRICEWATCH_VAR", str(tmp_path))
    assert shop_files.directories() == [shop_files.BUILT_IN, tmp_path / "shops"]
    monkeypatch.setenv("PRICEWATCH_SHOPS", "/srv/shops")
    assert shop_files.directories()[1] == Path("/srv/shops")


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ('currency = "EUR"', "", "currency is missing"),
        ('currency = "EUR"', 'currency = "Euro"', "currency: 'Euro' is not a currency code. Example: EUR"),
        ('title = "h1"', 'tittle = "h1"', "[product] title is missing"),
        ('sold = ".weg"', 'soled = ".weg"', "[overview] soled is not a known setting"),
        ('card = "li.tea"', 'card = "li["', "[overview] card: 'li[' is not a CSS selector"),
        ("^art-(.+)", "^art-(", "is not a regular expression"),
        ("^art-(.+)", "(a)(b)", "has 2 groups"),
        ("?p={page}", "?p=2", "pages: '?p=2' must contain at least one of page, index, offset in braces"),
        ("{keyword}", "{colour}", "search: '/suche?q={colour}' must contain at least one of"),
        ('next = "a.weiter"', "", "overview: give `next`"),
        ('availability = ".lager"\nbuy = "button.kaufen"', "", "product: give `availability`"),
        ('"BACKORDER"', '"SOON"', "Trifft bald ein"),
        ('currency = "EUR"', "currency = EUR", "is not TOML"),
        ('currency = "EUR"', 'currency = "EUR"\nversion = "two"', "version: "),
    ],
)
def test_mistakes_are_reported_in_one_sentence(declare, before, after, sentence):
    assert before in SHOP
    with pytest.raises(UserError) as raised:
        declare(SHOP.replace(before, after))
    assert sentence in str(raised.value)
    assert "teashop.toml" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 400
