"""Roles of numbers from the words around them: one table for each role, with rows of many languages."""

from __future__ import annotations

import pytest

from pricewatch.parsing.prices.price_roles import Role, includes_tax, role_from_context
from tests.parsing.role_tables import role_cases

TABLES = {
    Role.LIST: """
        en: RRP #; MRP: #; was #; Price without discount: #; Before discount #
        en: Lowest price in the last 30 days: #
        de: UVP #; Vorher #; statt #; ohne Rabatt: #; Niedrigster Preis der letzten 30 Tage: #
        fr: Prix conseillé : #; au lieu de #; sans remise : #; Prix barré #
        es: Antes #; Precio anterior: #; Sin descuento: #; PVPR #
        it: Prezzo di listino #; invece di #; senza sconto #; Era #
        pt: De # ; Preço original: #; Sem desconto #; PVPR #
        nl: Adviesprijs #; van #; zonder korting #; Oude prijs #
        pl: Cena katalogowa #; Najniższa cena z 30 dni: #; przed obniżką #; bez rabatu #
        cs: Původní cena #; Bez slevy #; před slevou: #; Nejnižší cena za 30 dní: #
        sk: Pôvodná cena: #; Bez zľavy #; pred zľavou #
        hu: Eredeti ár: #; Listaár #; kedvezmény nélkül #; # helyett
        ro: PRP: #; Preț vechi #; fără reducere #; Cel mai mic preț în ultimele 30 de zile: #
        bg: Стара цена: #; без отстъпка #; Най-ниска цена #
        hr: Stara cijena #; Bez popusta #; Najniža cijena u zadnjih 30 dana: #
        sr: Stara cena #; Bez popusta: #
        sl: Prej #; Brez popusta #; Najnižja cena #
        el: Αρχική τιμή #; Π.Λ.Τ.: #; χωρίς έκπτωση #; Πριν #
        sv: Rek. pris #; Tidigare #; utan rabatt #; Lägsta pris 30 dagar: #
        no: Førpris #; Veil. #; uten rabatt #
        da: Før #; Vejl. pris #; uden rabat: #
        fi: OVH #; Suositushinta #; ilman alennusta #; Alin hinta #
        et: Vana hind #; ilma soodustuseta #
        lv: Vecā cena #; bez atlaides #
        lt: Sena kaina #; be nuolaidos #
        ru: Старая цена #; без скидки #; было #
        uk: Стара ціна #; без знижки #; було #
        tr: İndirimsiz #; Eski fiyat: #; Piyasa fiyatı #
        he: מחיר מקורי #; לפני הנחה #; במקום #
        ar: السعر السابق #; قبل الخصم #; كان #
        hi: एमआरपी #; मूल कीमत #
        ja: 定価 #; メーカー希望小売価格 #; 割引前 #; 参考価格: #
        ko: 정가 #; 소비자가 #; 할인 전 #
        zh: 原价 #; 市場價 #; 划线价 #; 建議售價 #
        th: ราคาเดิม #; ราคาปกติ #
        vi: Giá gốc: #; Giá niêm yết #; Giá thị trường: #
        id: Harga asli #; Harga normal sebelum diskon #
    """,
    Role.REGULAR: """
        en: Regular price #
        cs: Běžná cena #
        sk: Bežná cena: #
        pl: Cena regularna: #
        sl: Redna cena #
        hr: Redovna cijena #
        fr: Prix habituel #
        sv: Ordinarie #
        et: Tavahind #
        ru: Обычная цена #
        tr: Normal fiyatı #
    """,
    Role.FROM: """
        en: From #; starting at #; # and up
        de: ab #
        fr: à partir de #; dès #
        es: desde #
        it: da #
        pt: a partir de #
        nl: vanaf #
        pl: już od #
        cs: od #
        hu: # -tól
        ro: de la #
        bg: от #
        el: από #
        sv: från #
        da: fra #
        fi: alkaen #
        et: alates #
        lt: nuo #
        ru: от #
        uk: від #
        tr: #'den başlayan fiyatlarla
        he: החל מ- #
        ar: ابتداء من #
        ja: #から
        ko: #부터
        zh: #起; 低至 #
        th: เริ่มต้น #
        vi: chỉ từ #
        id: mulai dari #
    """,
    Role.SAVING: """
        en: You save #; # off
        de: Sie sparen #; # gespart; Eintauschwert #
        fr: Économisez #
        es: Ahorra #
        it: Risparmi #
        pt: Economize #; Desconto #
        nl: Korting #
        pl: Oszczędzasz #; # taniej
        cs: Sleva #; Ušetříte #
        sk: Zľava #
        hu: Kedvezmény #
        ro: Economisești #
        bg: Отстъпка #
        hr: Ušteda #
        sl: Prihranek #
        el: Έκπτωση #
        sv: Du sparar #
        fi: Säästät #
        et: Soodustus #
        lv: Atlaide #
        lt: Nuolaida #
        ru: Скидка #; Выгода #
        uk: Знижка #
        tr: İndirim #
        he: הנחה #
        ar: خصم #
        hi: बचत #
        ja: 割引 #
        ko: 할인 #
        zh: 立减 #; 優惠券 #
        th: ส่วนลด #
        vi: Tiết kiệm #; mã giảm #
        id: Hemat #
    """,
    Role.OTHER_CONDITION: """
        en: Used: #; Refurbished #; Other sellers #
        de: Gebraucht #; Weitere Anbieter #
        fr: Occasion #; Autres vendeurs #
        es: Reacondicionado #; Segunda mano #
        it: Usato #; Ricondizionato #
        nl: Tweedehands #
        pl: Używany #
        cs: Rozbaleno #; Použité #
        hu: Használt #
        ro: Resigilat #
        bg: Употребяван #
        hr: Rabljeno #
        sr: Polovno #
        el: Μεταχειρισμένο #
        sv: Begagnad #
        no: Brukt #
        fi: Käytetty #
        et: Kasutatud #
        ru: б/у #; Уценка #
        tr: İkinci el #
        he: יד שניה #
        ar: مستعمل #
        ja: 中古 #
        ko: 중고 #
        zh: 二手 #
        th: มือสอง #
        id: Bekas #
    """,
    Role.BID: """
        en: Current bid #; # 3 bids
        de: Höchstgebot #
        fr: Mise à prix #
        es: Puja actual #
        it: Offerta attuale #
        pt: Lance atual #
        nl: Hoogste bod #
        pl: Licytacja #
        cs: Vyvolávací cena #
        hu: Kikiáltási ár #
        sv: Högsta bud #
        fi: Korkein tarjous #
        ru: Текущая ставка #
        ja: 入札 #
        zh: 起拍价 #
    """,
    Role.CURRENT: """
        en: Price #; Now #; # each; Sale price #; Price after discount #; Free delivery #
        en: # incl. VAT; Zip hoodie #
        de: Preis #; Jetzt #; # / Stück; Rabattpreis #; # inkl. MwSt.; Preis pro Stück #
        fr: Prix #; # TTC; Prix remisé #
        es: Precio #; # IVA incluido; Precio con descuento #; Precio por unidad: #
        it: Prezzo #; Prezzo scontato #; # al pezzo
        pl: Cena #; # /szt.; Cena po rabacie #
        cs: Cena #; # /ks; # s DPH; Cena po slevě #
        hu: Ár: #; # /db; Kedvezményes ár #
        ro: Preț #; # /buc; # cu TVA
        bg: Цена #; # /бр.; # с ДДС
        hr: Cijena #; # /kom
        ru: Цена #; # /шт; Цена со скидкой #
        tr: Fiyat #; İndirimli fiyat #; # KDV dahil
        ja: 販売価格 #; # (税込); 送料無料 #; 割引価格 #
        ko: 판매가 #; 할인가 #; 무료배송 #
        zh: 售价 #; 折后价 #; 包邮 #
        th: ราคา #
        vi: Giá #; Giảm còn #
        id: Harga #; Harga diskon #; Gratis ongkir #
    """,
}


@pytest.mark.parametrize(("before", "after", "role"), role_cases(TABLES))
def test_words_around_a_number_give_its_role(before, after, role):
    assert role_from_context(before, after) is role


@pytest.mark.parametrize(
    "text", ["s dph", "inkl. moms", "iva incluido", "с ндс", "税込", "kdv dahil", "z vat", "cu tva", "με φπα"]
)
def test_prices_with_tax_are_recognised(text):
    assert includes_tax(text)


def test_words_with_a_number_on_both_sides():
    assert role_from_context("", "helyett ", is_last=False) is Role.LIST
    assert role_from_context("helyett ", "") is Role.CURRENT
