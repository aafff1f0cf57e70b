"""Notices that a listing is gone or sold, and similar texts."""

from __future__ import annotations

import pytest

from pricewatch.parsing.pages.gone_notices import Departure, find_departure

GONE = [
    "Page not found",
    "404",
    "404 - Not Found",
    "Error 404",
    "Bazaar | 404",
    "Lamps: error 404",
    "This product is no longer available",
    "Sorry, this item is no longer available",
    "The page you requested could not be found",
    "This listing has expired",
    "This ad has been removed",
    "We couldn't find that page",
    "Product not found",
    "Seite nicht gefunden",
    "Dieser Artikel ist leider nicht mehr verfügbar",
    "Diese Anzeige wurde gelöscht",
    "Page introuvable",
    "Ce produit n'est plus disponible",
    "Cette annonce a été supprimée",
    "Página no encontrada",
    "Este producto ya no está disponible",
    "Pagina non trovata",
    "Questo prodotto non è più disponibile",
    "Página não encontrada",
    "Pagina niet gevonden",
    "Nie znaleziono strony",
    "Stránka nebyla nalezena",
    "Sidan hittades inte",
    "Страница не найдена",
    "Товар не найден",
    "ページが見つかりません",
    "商品已下架",
]

SOLD = [
    "This item has been sold",
    "Item sold",
    "Dieser Artikel wurde bereits verkauft",
    "Cet article est vendu",
    "Este artículo ha sido vendido",
    "Questo articolo è stato venduto",
    "Dit artikel is verkocht",
    "Товар продан",
    "Este produto foi vendido",
    "Ogłoszenie już sprzedane",
    "Inzerát byl prodán",
    "A termék már elkelt",
    "Varen er solgt",
    "Tuote on myyty",
    "Оголошення вже продано",
    "Bu ürün satılmıştır",
    "판매완료",
    "已售出",
    "This item was sold on 12 March",
    "Item sold 3 days ago",
    "已售出 3天前",
]

SALES_COUNTS = [
    "已售出 35",
    "已售出：1.2万",
    "35件已售出",
    "1.2k sold",
    "35 sold",
    "35 продано",
    "Товар продан 35 раз",
    "Verkauft: 35",
    "Bereits verkauft: 35",
    "35 items sold",
    "1,000+ item sold",
    "Already sold over 500",
    "This item has been sold 35 times",
    "판매 완료 120",
]

NEITHER = [
    "",
    "Blue Kettle",
    "Sold out",
    "This item has sold out",
    "Peugeot 404 Coupé",
    "Peugeot 404",
    "VI91404",
    "SKU VI-404",
    "Model: 404",
    "Out of stock",
    "In stock",
    "Not just a kettle",
    "This product is available now",
    "Sold by Example Shop",
    "Over 1,000 sold",
    "Lost and found: a novel",
]


@pytest.mark.parametrize("text", GONE)
def test_gone_notices_are_recognized(text):
    found = find_departure(text)
    assert found is not None
    assert found.departure is Departure.GONE
    assert found.phrase in text.lower()


@pytest.mark.parametrize("text", SOLD)
def test_sold_notices_are_recognized(text):
    found = find_departure(text)
    assert found is not None
    assert found.departure is Departure.SOLD


@pytest.mark.parametrize("text", NEITHER + SALES_COUNTS)
def test_other_texts_are_not_notices(text):
    assert find_departure(text) is None
