"""Roles of costs beside the price, from the words around a number: one table for each role."""

from __future__ import annotations

import pytest

from pricewatch.parsing.prices.price_roles import Role, role_from_context
from tests.parsing.role_tables import role_cases

TABLES = {
    Role.INSTALMENT: """
        en: # / month; # per month
        de: # pro Monat; # mtl.; 24 Monatsraten zu je #
        fr: # par mois; en 4 fois #
        es: 12 cuotas de #; # al mes
        it: # al mese
        pt: em 10x #; # por mês
        nl: # per maand
        pl: # miesięcznie; rata #
        cs: # měsíčně; na splátky #
        sk: # mesačne
        hu: Havi #
        ro: rate lunare #; # pe lună
        bg: вноска #
        hr: # mjesečno; 12 rata #
        sl: obrok #
        el: 12 άτοκες δόσεις #
        sv: # /mån; Delbetala #
        no: # /mnd
        fi: # /kk; Osamaksu #
        et: kuumakse #
        lt: # /mėn
        ru: # в месяц; рассрочка #
        uk: оплата частинами #
        tr: aylık #; taksitle #
        he: תשלומים #
        ar: أقساط #
        ja: 月々 #
        ko: 무이자 할부 #
        zh: 每月 #; 分期 #
        th: ผ่อน #
        vi: trả góp #
        id: cicilan #
    """,
    Role.PER_UNIT: """
        en: # per kg; # / 100 ml; Unit price: #
        de: Grundpreis: #; # / kg; 1 l = #
        fr: Prix au kilo : #; # le kilo
        es: # / kg; Precio por kilo: #
        it: Prezzo al kg #
        pl: Cena jednostkowa #; # /kg
        cs: Měrná cena #; # / 100 g
        hu: Egységár: #
        ro: # /kg
        el: # ανά κιλό
        sv: Jmf-pris #; # /l
        fi: Vertailuhinta #
        et: Ühikuhind #
        ru: # за кг; # /м²
        tr: Birim fiyatı #
        he: # ל-100 גרם
        ja: 100gあたり #
        ko: 100g당 #
        zh: # /公斤
        th: # ต่อกิโลกรัม
    """,
    Role.NET: """
        en: # excl. VAT; ex VAT #; # + VAT
        de: # zzgl. MwSt.; netto #
        fr: # HT; hors taxes #
        es: # sin IVA; # + IVA
        it: # IVA esclusa
        pt: # sem IVA
        nl: # excl. btw
        pl: # netto
        cs: # bez DPH
        sk: bez DPH #
        hu: nettó #; # + ÁFA
        ro: # fără TVA
        bg: # без ДДС
        hr: # bez PDV
        sl: # brez DDV
        el: # χωρίς ΦΠΑ
        sv: # exkl. moms
        no: # eks. mva
        da: # ekskl. moms
        fi: # alv 0 %
        et: # km-ta
        lv: # bez PVN
        lt: # be PVM
        ru: # без НДС
        uk: # без ПДВ
        tr: # KDV hariç
        he: # לפני מע"מ
        ar: # بدون ضريبة
        ja: # (税抜)
        ko: # (부가세 별도)
        zh: # 不含税
        vi: # chưa bao gồm VAT
        id: # belum termasuk PPN
    """,
    Role.SHIPPING: """
        en: Shipping #; Free shipping over #; # delivery
        de: Versandkosten #; versandkostenfrei ab einem Bestellwert von #
        fr: Livraison : #
        es: Gastos de envío #
        it: Spedizione #
        pt: Frete #
        nl: Verzendkosten #
        pl: Dostawa #
        cs: Doprava #
        sk: Poštovné #
        hu: Szállítási díj #
        ro: Livrare #
        bg: Доставка #
        hr: Dostava #
        sr: Poštarina #
        sl: Poštnina #
        el: Μεταφορικά #
        sv: Frakt #
        da: Fragt #
        fi: Toimituskulut #
        et: Tarne #
        lv: Piegāde #
        lt: Pristatymas #
        ru: Доставка #
        tr: Kargo #
        he: משלוח #
        ar: الشحن #
        ja: 送料 #
        ko: 배송비 #
        zh: 运费 #
        th: ค่าจัดส่ง #
        vi: Phí vận chuyển #
        id: Ongkir #
    """,
    Role.EXTRA: """
        en: Extended warranty #; Recycling fee #; Copyright levy #; Member price #; with Prime #
        en: approx. #; Gift worth #
        de: Pfand #; Clubpreis #; ca. #; Versicherung #; zzgl. # Pfand; inkl. # Urheberrechtsabgabe
        fr: dont # d'éco-participation; Prix adhérent #; environ #
        es: Precio socio #; aprox. #; Seguro #
        it: Contributo RAEE #; Cauzione #
        nl: Statiegeld #; Ledenprijs #
        pl: Kaucja #; z kartą #; Cena klubowa #; ok. #
        cs: Recyklační poplatek #; s kartou #; Záloha #; v hodnotě #; cca #
        sk: Autorský poplatok #; Recyklačný poplatok: #
        hu: Betétdíj #; Kártyával #; kb. #
        ro: Timbru verde #; Garanție #
        bg: Депозит #; с карта #
        hr: Jamstvo #; otprilike #
        el: Εγγύηση #; περίπου #
        sv: Medlemspris #; + pant #; # pant
        da: Medlemspris #; pant: #
        fi: Pantti #; noin #
        ru: Вторсбор #; по карте #; примерно #; Гарантия #
        uk: з карткою #; Страхування #
        tr: Sigorta #; yaklaşık #; Üye fiyatı #
        he: פיקדון #; מחיר מועדון #
        ar: ضمان #; حوالي #
        ja: 会員価格 #; 約 #; 延長保証 #
        ko: 회원가 #; 약 #
        zh: 会员价 #; 约 #; 押金 #; ≈ #; (~ #
        th: ราคาสมาชิก #
        vi: Giá thành viên #; khoảng #
        id: Harga member #; sekitar #
    """,
}


@pytest.mark.parametrize(("before", "after", "role"), role_cases(TABLES))
def test_words_of_costs_around_a_number_give_its_role(before, after, role):
    assert role_from_context(before, after) is role
