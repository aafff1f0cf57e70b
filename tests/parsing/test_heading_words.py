"""Headings that introduce other products, by language."""

from __future__ import annotations

import pytest
from lxml import html  # type: ignore[import-untyped]

from pricewatch.parsing.pages.other_products import introduces_other_products

HEADINGS = """
en: Related products; Similar items; You may also like; Frequently bought together; Recently viewed
en: More from this seller
en: Sponsored; Best sellers; Accessories; Customers who viewed this also bought; Complete the look
de: Ähnliche Artikel; Kunden kauften auch; Zubehör; Zuletzt angesehen; Wird oft zusammen gekauft; Bestseller
fr: Produits similaires; Vous aimerez aussi; Articles récemment consultés; Accessoires; Autres annonces
es: Productos relacionados; También te puede interesar; Más vendidos; Vistos recientemente
it: Prodotti correlati; Potrebbe interessarti anche; Spesso comprati insieme; I più venduti
pt: Produtos relacionados; Quem viu, viu também; Mais vendidos; Compre junto
nl: Vergelijkbare producten; Vaak samen gekocht; Recent bekeken; Anderen bekeken ook
pl: Podobne produkty; Klienci kupili również; Ostatnio oglądane; Akcesoria; Inne oferty sprzedającego
cs: Související zboží; Příslušenství; Naposledy navštívené; Mohlo by vás zajímat
sk: Súvisiace produkty; Príslušenstvo; Naposledy prezerané
hu: Hasonló termékek; Gyakran együtt vásárolták; Kiegészítők; Mások ezt is megnézték
ro: Produse similare; Cumpărate frecvent împreună; Accesorii; Cele mai vândute
bg: Подобни продукти; Аксесоари; Последно разгледани
hr: Slični proizvodi; Kupci su također kupili; Dodatna oprema
sr: Слични производи; Povezani proizvodi
sl: Podobni izdelki; Nazadnje ogledano; Dodatna oprema
el: Σχετικά προϊόντα; Παρόμοια προϊόντα; Αξεσουάρ
sv: Liknande produkter; Tillbehör; Köps ofta tillsammans; Senast visade
no: Lignende produkter; Tilbehør; Kjøpes ofte sammen
da: Relaterede produkter; Andre købte også; Senest viste
fi: Samankaltaisia tuotteita; Lisävarusteet; Viimeksi katsotut
et: Sarnased tooted; Viimati vaadatud
lv: Līdzīgas preces; Nesen skatītie
lt: Panašios prekės; Neseniai peržiūrėtos
ru: Похожие товары; С этим товаром покупают; Аксессуары; Вы недавно смотрели
uk: Схожі товари; Разом з цим купують; Переглянуті товари
tr: Benzer ürünler; Birlikte alınanlar; Çok satanlar
he: מוצרים דומים; אולי יעניין אותך
ar: منتجات مشابهة; قد يعجبك أيضا
hi: संबंधित उत्पाद; हाल ही में देखे गए
ja: 関連商品; よく一緒に購入されている商品; 最近チェックした商品; この出品者のその他の商品
ko: 추천 상품; 최근 본 상품; 함께 구매한 상품
zh: 相关商品; 猜你喜歡; 看了又看; 最近瀏覽; 店家推薦
th: สินค้าที่เกี่ยวข้อง; คุณอาจจะชอบ
vi: Sản phẩm tương tự; Có thể bạn cũng thích; Phụ kiện
id: Produk serupa; Anda mungkin juga suka; Lainnya di toko ini
"""
CASES = [(row[:2], text.strip()) for row in HEADINGS.strip().splitlines() for text in row[3:].split(";")]


@pytest.mark.parametrize(("language", "text"), CASES)
def test_headings_of_other_products_are_recognised(language, text):
    for written in (text, text.upper()) if language in ("en", "de", "ru", "cs") else (text,):
        assert introduces_other_products(html.fromstring(f"<h2>{written}</h2>"))


@pytest.mark.parametrize(
    "text",
    [
        *("Description", "Product details", "Reviews", "Beschreibung", "Caractéristiques", "Características"),
        *(
            "Specifiche",
            "Opis",
            "Popis",
            "Leírás",
            "Описание",
            "Özellikler",
            "商品説明",
            "상품 정보",
            "商品描述",
        ),
        *("Delivery and returns", "Blue Kettle", "Lieferumfang", "Stan magazynowy", "Availability"),
    ],
)
def test_other_headings_introduce_nothing(text):
    assert not introduces_other_products(html.fromstring(f"<h2>{text}</h2>"))
