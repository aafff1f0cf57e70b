"""Availability from schema.org values and from phrases of many shops."""

from __future__ import annotations

import pytest

from pricewatch.parsing.pages.availability import (
    is_buy_button,
    schema_availability,
    stock_phrases,
    text_availability,
)
from pricewatch.vocabulary import Availability

IN, OUT, BACK, UNKNOWN = (
    Availability.IN_STOCK,
    Availability.OUT_OF_STOCK,
    Availability.BACKORDER,
    Availability.UNKNOWN,
)


@pytest.mark.parametrize(
    ("value", "state"),
    [
        ("https://schema.org/InStock", IN),
        ("http://schema.org/InStock/", IN),
        ("schema:InStock", IN),
        ("InStock", IN),
        ("in stock", IN),
        ("in_stock", IN),
        ("InStoreOnly", IN),
        ("OnlineOnly", IN),
        ("LimitedAvailability", IN),
        ("OutOfStock", OUT),
        ("oos", OUT),
        ("Discontinued", OUT),
        ("SoldOut", OUT),
        ("PreOrder", BACK),
        ("BackOrder", BACK),
        ("PreSale", BACK),
        ("MadeToOrder", BACK),
        ({"@id": "https://schema.org/InStock"}, IN),
        (["InStock", "http://schema.org/InStock"], IN),
        (["InStock", "OutOfStock"], UNKNOWN),
        ("whatever", UNKNOWN),
        ("", UNKNOWN),
        (None, UNKNOWN),
        (1, UNKNOWN),
    ],
)
def test_machine_readable_availability_is_parsed(value, state):
    assert schema_availability(value) is state


# Real cases that were misread.
CAUGHT = [
    ("Not in stock", OUT),
    ("Out of stock", OUT),
    ("250 in stock", IN),
    ("A kettle for the kitchen", UNKNOWN),
    ("Pre-order now", BACK),
    ("Available on backorder", BACK),
    ("Information not available", UNKNOWN),
    ("Available in 3 colours", UNKNOWN),
    ("Not available in your store", UNKNOWN),
]

PHRASES = [
    ("In stock", IN),
    ("Only 3 left", IN),
    ("Auf Lager", IN),
    ("Sofort lieferbar", IN),
    ("En stock", IN),
    ("Disponibile", IN),
    ("Op voorraad", IN),
    ("Skladem", IN),
    ("Dostępny", IN),
    ("I lager", IN),
    ("În stoc", IN),
    ("В наличии", IN),
    ("在庫あり", IN),
    ("現貨", IN),
    ("Sold out", OUT),
    ("Currently unavailable", OUT),
    ("Notify me when available", OUT),
    ("Nicht auf Lager", OUT),
    ("Derzeit nicht verfügbar", OUT),
    ("Ausverkauft", OUT),
    ("Rupture de stock", OUT),
    ("Agotado", OUT),
    ("Esaurito", OUT),
    ("Non disponibile", OUT),
    ("Esgotado", OUT),
    ("Uitverkocht", OUT),
    ("Niet op voorraad", OUT),
    ("Vyprodáno", OUT),
    ("Niedostępny", OUT),
    ("Slut i lager", OUT),
    ("Nu este in stoc", OUT),
    ("Нет в наличии", OUT),
    ("在庫切れ", OUT),
    ("已售罄", OUT),
    ("Vorbestellbar", BACK),
    ("Précommander", BACK),
    ("Précommande", BACK),
    ("Под заказ", BACK),
    ("予約受付中", BACK),
    ("Blue Kettle", UNKNOWN),
    ("", UNKNOWN),
]


@pytest.mark.parametrize(("text", "state"), CAUGHT + PHRASES)
def test_displayed_availability_is_parsed(text, state):
    assert text_availability(text) is state


def test_batch_gives_the_same_results_as_single_texts():
    texts = [text for text, _ in CAUGHT + PHRASES if text]
    one_by_one = [
        (index, state)
        for index, text in enumerate(texts)
        if (state := text_availability(text)) is not UNKNOWN
    ]
    assert stock_phrases(texts) == one_by_one
    assert stock_phrases([]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Add to cart",
        "ADD TO BAG",
        "Buy now",
        "In den Warenkorb",
        "Ajouter au panier",
        "Añadir al carrito",
        "Aggiungi al carrello",
        "In winkelwagen",
        "Do koszyka",
        "Do košíku",
        "Lägg i varukorgen",
        "Adauga in Cos",
        "В корзину",
        "Купить",
        "カートに入れる",
        "加入購物車",
    ],
)
def test_buy_buttons_are_recognized(text):
    assert is_buy_button(text)


@pytest.mark.parametrize(
    "text", ["Contact seller", "Add to wishlist", "Notify me", "Search", "Log in", "Compare", ""]
)
def test_other_buttons_are_not_buy_buttons(text):
    assert not is_buy_button(text)
