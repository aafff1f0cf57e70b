"""Numbers of pieces in stock, in the languages of shops; all in lower case."""

from __future__ import annotations

from pricewatch.parsing.phrase_table import PhrasePattern, alternatives

_PIECES = alternatives(
    r"""
    en: pcs; pieces?; items?; units?
    de nl sv: stück; st; stk; stuks?
    pl cs sk hu ro: szt; ks; kus[uyů]?; db; darab; buc
    hr sl ru bg: kom; kos(?:ov|i)?; шт; бр
    fi et lv lt tr el: kpl; tk; gab; vnt; adet; τεμ
    it fr es pt: pz; pezzi; pièces?; articles?; exemplaires?; unidad(?:es)?; uds?; un
    vi id: cái; sản phẩm; buah
    zh ja ko th: 件; 個; 个; 点; 點; 台; 本; 枚; 개; ชิ้น
    """
)
_COUNT = r"(?:[<>≥~]\s?)?(?P<count>\d{1,6})(?![\dk.,:/%]|\s?[-–+%€$£])"
# "Stock: 12", "Lager: 5 st", "在庫 3点".
LABELS_BEFORE = PhrasePattern(
    r"""
    en: (?:in )?stock(?: level| qty| quantity)?; (?:qty|quantity) available; available (?:qty|quantity)
    en: available ?(?=:)
    en: (?:pieces|items|units) left
    de: (?:auf )?lager(?:bestand)?; bestand; verfügbar; vorrat; vorrätig
    fr: en stock; quantité disponible
    es: existencias; (?:unidades )?disponibles
    it: in magazzino; giacenza; disponibili
    pt: (?:em )?estoque; em stock
    nl: (?:op )?voorraad
    pl: w magazynie; stan magazynowy; na stanie; dostępnych
    cs sk: skladem; na sklad[eě]; skladom; na sklade
    hu: raktáron; készleten; készlet
    ro: (?:[iî]n )?stoc
    bg ru uk sr: на склад[еі]?; в наличии; (?:в )?наличност; (?:в|у) наявності; остаток; осталось; залишилось
    hr sr sl: na (?:zalogi|zalihi|stanju|lageru); zaloga; zaliha
    sv no da: (?:i |på )?lager; lagersaldo; antal i lager; lagerstatus
    fi et lv lt: varastossa; laos; laoseis; noliktavā; sandėlyje; likutis
    tr el: stok(?:ta)?; stok adedi; διαθέσιμα; απόθεμα
    he ar: במלאי; المخزون; متوفر; متبقي
    vi id ms: còn(?: lại)?; kho; tersedia; sisa; tersisa; stok tersedia; baki
    ja: 在庫数?; 残り(?:あと)?
    zh: 库存; 庫存; 剩余; 剩餘; 还剩; 還剩; 仅剩; 僅剩
    ko: 재고(?: ?수량)?; 남은 ?수량
    th: คงเหลือ; เหลือ; สต็อก
    """,
    suffix=r"\s?[:：(=]?\s?" + _COUNT,
)
# "12 pcs in stock", "5 auf Lager".
LABELS_AFTER = PhrasePattern(
    r"""
    en: left; available; in stock; remaining
    de: auf lager; vorrätig; verfügbar; lagernd; am lager
    fr es it pt: en stock; restants?; disponibles?; en existencia; disponibil[ei]; rimast[io]
    fr es it pt: em (?:estoque|stock)
    pt nl pl: dispon[ií]ve(?:l|is); op voorraad; beschikbaar; w magazynie; na stanie; dostępn\w+
    cs sk hu ro: skladem; na sklad[eě]; skladom; raktáron; készleten; [iî]n stoc; pe stoc
    ru uk bg: на склад[еі]?; в наличии; в наличност; (?:в|у) наявності
    hr sr sl: na (?:zalogi|zalihi|stanju|lageru)
    sv no da fi et lv lt: (?:i|på) lager; kvar; igjen; tilbage; varastossa; laos; noliktavā; sandėlyje
    tr el he: stokta; σε απόθεμα; διαθέσιμα; במלאי
    vi id ms: tersisa; tersedia; có sẵn
    ja zh ko: 在庫; 可售; 剩余; 剩餘; 재고; 남음
    """,
    prefix=rf"(?<![\d.,]){_COUNT}\s?(?:(?:{_PIECES})\.?\s?)?",
)


def pieces_in_stock(text: str) -> int | None:
    """The number of pieces that a lower-case text says are in stock; None if it says none."""
    if not any(map(str.isdigit, text)):
        return None
    found = LABELS_BEFORE.search(text) or LABELS_AFTER.search(text)
    return None if found is None else int(found["count"])
