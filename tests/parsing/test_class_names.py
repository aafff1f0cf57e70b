"""Cues from classes of elements, by the words of many languages."""

from __future__ import annotations

import pytest

from pricewatch.parsing.pages.class_names import cues
from pricewatch.parsing.prices.price_roles import Role

ROLES = {
    Role.LIST: "old-price uvp msrp-price prix-barre precio-anterior stara-cena mrp adviesprijs eski-fiyat",
    Role.NET: "netPrice price-without-vat bez-dph withoutvat nettopreis exclBtw",
    Role.INSTALMENT: "taksit-fiyat splatky paypo mensualite",
    Role.PER_UNIT: "unit-price jmfpris vertailuhinta grundpreis",
    Role.SHIPPING: "doprava-cena frakt verzendkosten kargo",
    Role.SAVING: "ahorro-precio tradein points loyalty",
    Role.EXTRA: "copyright-levy deposit-price member-price clubpreis eco-part ecotax statiegeld",
    Role.OTHER_CONDITION: "refurb-price reconditionne tweedehands other-sellers",
    Role.RELATED: "also-viewed frequently-bought last-viewed best-sellers",
}


@pytest.mark.parametrize(
    ("names", "role"), [(names, role) for role, table in ROLES.items() for names in table.split()]
)
def test_classes_give_a_role(names, role):
    assert cues(names).role is role


@pytest.mark.parametrize(
    "names", ["card-price", "layout-with-card", "pants-list", "PrimeReact", "book-club", "precio-descuento"]
)
def test_common_classes_give_no_role(names):
    assert cues(names).role is None


@pytest.mark.parametrize(
    "names", ["product-price", "cena", "fiyat", "harga-produk", "valor-final", "product__hind", "montant"]
)
def test_classes_of_prices_are_known(names):
    assert cues(names).is_price


@pytest.mark.parametrize("names", ["arcena", "behind", "valoracion", "prisma", "pretty", "menu-item"])
def test_words_that_contain_a_price_word_are_no_prices(names):
    assert not cues(names).is_price


@pytest.mark.parametrize(
    "names", ["winkelwagen-knop", "sepete-ekle", "kosik", "do-koszyka koszyk", "addCart"]
)
def test_classes_of_carts_are_known(names):
    assert cues(names).is_cart
