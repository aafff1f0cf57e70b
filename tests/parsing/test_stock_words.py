"""Phrases for the state of stock, buttons, numbers of pieces and promises of delivery, by language."""

from __future__ import annotations

import pytest

from pricewatch.parsing.pages.availability import (
    delivery_promise,
    is_buy_button,
    is_contact_button,
    schema_availability,
    stock_phrases,
    text_availability,
)
from pricewatch.parsing.pages.stock_counts import LABELS_AFTER, LABELS_BEFORE, pieces_in_stock
from pricewatch.parsing.pages.stock_words import BACK, IN, OUT
from pricewatch.parsing.phrase_stems import stems, stems_of
from pricewatch.parsing.phrase_table import phrases
from pricewatch.vocabulary import Availability

# Language: in stock; out of stock; backorder; buy button; contact button; promise of delivery.
LANGUAGES = """
en: In stock; Sold out; Pre-order; Add to cart; Contact seller; Delivery by Tuesday
de: Auf Lager; Ausverkauft; Vorbestellbar; In den Warenkorb; Anbieter kontaktieren; Lieferung bis Freitag
fr: En stock; Épuisé; Précommande; Ajouter au panier; Contacter le vendeur; Livré demain
es: Hay stock; Sin existencias; Bajo pedido; Añadir a la cesta; Contactar al vendedor; Entrega el 5 de mayo
es: Disponible; Agotado; Preventa; Agregar al carrito; Enviar mensaje; Llega mañana
it: Disponibile; Esaurito; Preordina; Aggiungi al carrello; Contatta il venditore; Consegna entro lunedì
pt: Em stock; Esgotado; Pré-venda; Adicionar ao carrinho; Contactar o vendedor; Receba amanhã
pt: Em estoque; Sem estoque; Sob encomenda; Comprar; Enviar mensagem; Entrega em 3 dias
nl: Op voorraad; Uitverkocht; Op bestelling; In winkelwagen; Stuur bericht; Morgen in huis
pl: Dostępny; Brak w magazynie; Przedsprzedaż; Dodaj do koszyka; Napisz wiadomość; Dostawa jutro
cs: Skladem; Vyprodáno; Na objednávku; Do košíku; Kontaktovat prodejce; Zítra u vás
sk: Skladom; Vypredané; Predobjednávka; Do košíka; Kontaktovať predajcu; Doručenie v piatok
hu: Raktáron; Elfogyott; Előrendelhető; Kosárba; Üzenet küldése; Szállítás holnap
ro: În stoc; Stoc epuizat; Precomandă; Adaugă în coș; Trimite mesaj; Livrare mâine
bg: В наличност; Изчерпан; По поръчка; Добави в количката; Изпрати съобщение; Доставка утре
hr: Na zalihi; Rasprodano; Po narudžbi; Dodaj u košaricu; Pošalji poruku; Dostava u petak
sr: Na stanju; Rasprodato; Pretprodaja; Dodaj u korpu; Kontaktirajte prodavca; Isporuka sutra
sl: Na zalogi; Razprodano; Po naročilu; V košarico; Pošlji sporočilo; Dostava jutri
el: Διαθέσιμο; Εξαντλήθηκε; Προπαραγγελία; Προσθήκη στο καλάθι; Στείλε μήνυμα; Παράδοση αύριο
sv: Finns i lager; Slutsåld; Förbeställ; Lägg i varukorgen; Kontakta säljaren; Leverans imorgon
no: På lager; Utsolgt; Forhåndsbestill; Legg i handlekurv; Send melding; Levering i morgen
da: På lager; Udsolgt; Forudbestil; Læg i kurven; Kontakt sælger; Levering tirsdag
fi: Varastossa; Loppuunmyyty; Ennakkotilaus; Lisää ostoskoriin; Lähetä viesti; Toimitus huomenna
et: On laos; Läbi müüdud; Eeltellimus; Lisa ostukorvi; Saada sõnum; Tarne homme
lv: Ir noliktavā; Izpārdots; Pēc pasūtījuma; Ielikt grozā; Sazināties ar pārdevēju; Piegāde rīt
lt: Turime; Išparduota; Pagal užsakymą; Į krepšelį; Rašyti žinutę; Pristatymas rytoj
ru: В наличии; Нет в наличии; Под заказ; В корзину; Написать продавцу; Доставка завтра
uk: Є в наявності; Немає в наявності; Під замовлення; До кошика; Написати продавцю; Доставимо у вівторок
tr: Stokta var; Tükendi; Ön sipariş; Sepete ekle; Mesaj gönder; Yarın kapında
he: במלאי; אזל המלאי; הזמנה מוקדמת; הוסף לסל; שלח הודעה; משלוח מחר
ar: متوفر; غير متوفر; طلب مسبق; أضف إلى السلة; أرسل رسالة; التوصيل غدا
hi: स्टॉक में है; स्टॉक में नहीं; प्री-ऑर्डर; कार्ट में डालें; संदेश भेजें; डिलीवरी कल
ja: 在庫あり; 在庫切れ; 予約受付中; カートに入れる; 出品者に質問; お届け予定
ko: 재고 있음; 품절; 예약 판매; 장바구니 담기; 판매자에게 문의; 내일 도착
zh: 现货; 缺货; 预售; 加入购物车; 联系卖家; 明天送达
zh: 有貨; 已售完; 預購; 加入購物車; 聯絡賣家; 3天到貨
th: มีสินค้า; สินค้าหมด; พรีออเดอร์; หยิบใส่ตะกร้า; ติดต่อผู้ขาย; จัดส่งภายใน 2 วัน
vi: Còn hàng; Hết hàng; Đặt trước; Thêm vào giỏ hàng; Liên hệ người bán; Giao hàng ngày mai
id: Stok tersedia; Stok habis; Pre-order; Masukkan ke keranjang; Hubungi penjual; Tiba besok
"""
ROWS = [[row[:2], *(part.strip() for part in row[3:].split(";"))] for row in LANGUAGES.strip().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}-{row[1]}" for row in ROWS])
def test_each_language_has_all_states_buttons_and_promises(row):
    _, stocked, out, back, buy, contact, promise = row
    states = [Availability.IN_STOCK, Availability.OUT_OF_STOCK, Availability.BACKORDER]
    for text, state in zip([stocked, out, back], states, strict=True):
        assert text_availability(text) is state, text
        assert text_availability(text.upper()) in (state, Availability.UNKNOWN), text
        assert stock_phrases(["x", text]) == [(1, state)], text
    assert is_buy_button(buy)
    assert not is_contact_button(buy)
    assert is_contact_button(contact)
    assert not is_buy_button(contact)
    assert delivery_promise(promise)
    assert not any(map(delivery_promise, [stocked, out, back, buy, contact]))


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Only 3 left", 3),
        ("12 pcs in stock", 12),
        ("Lager: 5 st", 5),
        ("在庫 3点", 3),
        ("剩余 3 件", 3),
        ("Stock: 12", 12),
        ("Skladem 7 ks", 7),
        ("Stan magazynowy: 14 szt.", 14),
        ("Осталось 2 шт.", 2),
        ("Stokta 4 adet", 4),
        ("5 auf Lager", 5),
        ("Lagerbestand: 0", 0),
        ("0 in stock", 0),
        ("Stock: 0", 0),
        ("库存: 0", 0),
        ("재고 수량: 0", 0),
        ("In stock", None),
        ("Auf Lager, 2-3 Tage", None),
        ("Stock: 0-3 days", None),
        ("Chỉ còn 199.000 đ", None),
        ("Lager 10%", None),
        ("35 sold", None),
    ],
)
def test_pieces_in_stock_are_counted(text, pieces):
    assert pieces_in_stock(text.lower()) == pieces
    if pieces is not None:
        expected = Availability.IN_STOCK if pieces else Availability.OUT_OF_STOCK
        assert text_availability(text) is expected
        assert stock_phrases([text]) == [(0, expected)]


@pytest.mark.parametrize(
    "text",
    ["Almost sold out", "Fast ausverkauft", "Presque épuisé", "Casi agotado", "Bijna uitverkocht"],
)
def test_nearly_sold_out_is_in_stock(text):
    assert text_availability(text) is Availability.IN_STOCK


@pytest.mark.parametrize(
    "text",
    [
        "Get it by Tue, Mar 5",
        "Arrives by March 5",
        "Ships in 2 days",
        "Lieferung am 5. März",
        "Lieferzeit: 1-3 Werktage",
        "Livraison sous 48 h",
        "Dostawa w 24 godziny",
        "Recíbelo el viernes",
        "Отправим сегодня",
        "3日以内に発送",
        "Free shipping. Delivery tomorrow. 30 days to return it.",
    ],
)
def test_promises_of_delivery_are_recognised(text):
    assert delivery_promise(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Free delivery on orders over $50",
        "Delivery: €5.90",
        "Delivery by courier",
        "Free 30 days returns and shipping",
        "Tomorrow is another day",
        "Rückgabe: Versand innerhalb von 14 Tagen",
        "Ships when available",
        "Currently unavailable for delivery before Friday",
    ],
)
def test_other_texts_promise_no_delivery(text):
    assert not delivery_promise(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Contact us", "Nous contacter", "Kontakt", "お問い合わせ", "Liên hệ", "Contactar con nosotros"),
        *("Reply to Anna's review of the product", "Kirim ulasan", "Search", ""),
    ],
)
def test_other_buttons_contact_no_seller(text):
    assert not is_contact_button(text)


@pytest.mark.parametrize(
    "text",
    ["Ajouter aux favoris", "Fortsätt handla", "Kirim pesan", "Ordina per prezzo", "レジに進む", "Sort by"],
)
def test_other_buttons_buy_nothing(text):
    assert not is_buy_button(text)


@pytest.mark.parametrize(
    ("value", "state"),
    [
        ("http://schema.orgInStock", Availability.IN_STOCK),
        ("https://schema.org/Out_Of_Stock", Availability.OUT_OF_STOCK),
        ("IN-STOCK", Availability.IN_STOCK),
        ("on backorder", Availability.BACKORDER),
        ("Temporarily out of stock", Availability.OUT_OF_STOCK),
    ],
)
def test_spellings_of_machine_readable_values_are_known(value, state):
    assert schema_availability(value) is state


@pytest.mark.parametrize(
    ("phrase", "required"),
    [
        ("in[- ]stock", {"stock"}),
        (r"nicht (?:mehr )?verfügbar", {"verfügbar"}),
        ("(?:jetzt|nun) nicht", {" nicht"}),
        ("(?:sold|sell) (?:it )?", {"sold", "sell"}),
        ("colou?rs?", {"colo"}),
        ("在庫[な無]し", {"在庫"}),
        (r"\d+ (?:kvar|left)", {"kvar", "left"}),
    ],
)
def test_stem_of_a_phrase_is_in_all_texts_that_it_matches(phrase, required):
    assert stems_of(phrase) == required


def test_each_phrase_contains_a_stem():
    tables = [words.table for words in (OUT, BACK, IN, LABELS_BEFORE, LABELS_AFTER)]
    found = stems(*tables)
    assert min(map(len, found)) >= 2
    for table in tables:
        for phrase in [phrase for group in phrases(table) for phrase in group]:
            assert all(any(stem in one for stem in found) for one in stems_of(phrase)), phrase
