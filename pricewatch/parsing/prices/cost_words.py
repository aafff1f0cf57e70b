"""Words for costs beside the price: units, instalments and delivery; all in lower case."""

from __future__ import annotations

import re

from pricewatch.parsing.phrase_table import PhrasePattern, alternatives

# Measures only: a price per piece ("/ks", "/szt.", "/шт") is the price.
_UNITS = (
    r"(?:100|10|1|50|500|1000)?\s?(?:"
    + alternatives(
        r"""
        en: kg; kilo(?:gramm?s?|gramo|gram\w*|s)?; g; gr; gram(?:m|me|mes|s|i|ů|ov|ów)?; mg; lb; lbs; pound
        en: dkg; dag
        en: (?:fl\.?\s?)?oz; (?:fluid )?ounce; l; lt; ltr; lit(?:er|re|ro|r|ru|rul|ra|ri|ers|res|ros)s?; ml
        en: cl; dl; hl
        en: m; m2; m²; m³; m3; qm; lfm; sqm; sq\.?\s?m; sq\.?\s?ft; sq\.?\s?m(?:eter|etre); meter; metre
        en: metro; mtr?
        en: cm; ft; yd; yard; round; rd; rnd; shot; dose; dosis; wash; load; serving; portion; tablet; tab
        en: capsule
        en: tea\s?bag; count; ct; sheet; night; day; week; hour; person
        de: wl; waschladung; blatt; nacht; tag; woche; stunde; laufmeter; quadratmeter; kapsel; tablette
        fr es pt it nl: lavage; noche; nuit; notte; noite; lavado; lavaggio; wasbeurt; c[áa]psul[ae]; dosi
        fr es pt it nl: persona; pessoa
        pl cs sk: mb; bm; pranie; praní; dávk[auy]; tabletk?[ay]; kaps[ułl]\w+; porc[ejai]\w*; metr; noc
        pl cs sk: osob[auyęa]
        hu ro: fm; mosás; adag; méter; mp; noapte; éj; éjszaka; fő
        bg ru uk sr mk: кг; г; гр; л; мл; м; м2; м²; м\.п; пог\.?\s?м; сут; ночь; литър; метър; нощувка
        bg ru uk sr mk: кілограм; літр
        el: κιλ[όο]; λ[ίι]τρο; μ[έε]τρο; κιλού; γρ; νύχτα; πλύση
        sv no da fi et lv lt: natt; nat; tvätt; vask; dygn; døgn; yö; pesu; öö
        tr he ar: gece; litre; metrekare; kişi; ק"ג; קג; גרם; ליטר; מטר; كجم; كيلو; لتر; غرام; جرام; متر; ليلة
        zh ja ko th: 公斤; 公克; 克; 千克; 斤; 升; 毫升; キロ; 평; กก; กิโลกรัม; ลิตร; กรัม
        """
    )
    + ")"
)
PER_UNIT = PhrasePattern(
    r"""
    en: per\s(?:unit|100); unit price; base price; cpr
    en: price per (?:kg|kilo|litre|liter|100|metre|meter|m²|m2)
    de: grundpreis; preis pro (?!st(?:ü?c?k|\.)|paar|set|packung|exemplar|einheit)\w+
    fr es pt it: prix au (?:kilo|kg|litre|l|m\w*|100)?; prezzo al
    fr es pt it: precio por (?!unidad$|unidad:|pieza|persona)\w+
    fr es pt it: preço por (?:kg|kilo|litro|l|100)\w*; al (?:kilo|chilo|litro|metro); au (?:kilo|litre|mètre)
    fr es pt it: l[ea] kilo
    nl: kiloprijs; literprijs; prijs per (?:kg|kilo|liter|100)
    pl cs sk: cena za (?:kg|l|100|litr|metr|m2|1 ?kg|1 ?l); cena jednostkowa; jednotková cena; měrná cena
    pl cs sk: merná cena
    hu ro: egységár; pre[tțţ] pe unitate; pre[tțţ] (?:per|pe|/) ?(?:kg|litru|unitate)
    bg ru uk: цена за (?:кг|кило|литър|л|100|метър); единична цена; ціна за (?:кг|л|100)
    hr sr bs sl: cijena za (?:kg|l|100|jedinicu mjere); cena na (?:enoto|kg|l|kilo); jedinična cijena
    el: τιμ[ήη] μον[άα]δας; αν[άα] (?:κιλ[όο]|λ[ίι]τρο|μ[έε]τρο); τιμ[ήη] κιλο[ύυ]
    sv no da: jmf\.?-?\s?pris; jämförpris; jämförelsepris; sammenligningspris; kilopris; literpris; enhetspris
    fi et lv lt: vertailuhinta; kilohinta; litrahinta; ühikuhind; ühiku hind; kilohind; vienības cena
    fi et lv lt: vieneto kaina
    tr he ar: birim fiyat\w*; kg fiyat[ıi]; ל-?100 (?:גרם|מ"ל); לק"ג; לליטר; للكيلو; لكل كيلو; لكل 100
    vi id ms: giá mỗi kg; harga per kg
    ja: \d{0,4}\s?(?:kg|g|ml|l|㎡|m2|坪|本|枚|個)あたり
    ko: (?:kg|g|ml|l)당
    zh: 每公斤; 每100克; 每公升; 每千克; 每斤; 每平方
    th: ต่อ(?:กิโลกรัม|กก|ลิตร)
    """,
    prefix=r"(?:/|\b(?:per|pro|por|par|je|al|a|za|na|за|pe|ανά|το)\b)\s?"
    + _UNITS
    + r"\b(?!\w)|\b"
    + _UNITS
    + r"\s?=|",
)
# "€24 m²" is a price per square metre.
MEASURE = re.compile(r"^\W?(?:m²|m2|qm|sqm|kg|lfm)(?!\w)|^\s?/\s?\d{1,3}(?![\d.,])")

INSTALMENT = PhrasePattern(
    r"""
    *: /\s?(?:mo|month|mth|monat|mois|mes|m[êe]s|mese|mies|měs|měsíc|mesiac|hó|мес|месяц|міс)\b
    *: /\s?(?:wk|week|mån|mnd|md)\b
    *: /\s?(?:maand|kk|kuu|mēn|mėn|ay|bulan|tháng|μήνα|lun[aă]|mjesec|mesec)\b; /\s?(?:月|เดือน|월)
    *: monthly; monatlich; mensuel; mensual; mensile; mensili; mensais; lunare; lunar; ежемесячно; в месяц
    *: měsíčně; mesačne
    *: miesięcznie; månad; måned; kuukau; instal?lment; raten?(?:zahlung|kauf|plan); splátk; cuotas?; parcela
    *: sem juros
    *: sin inter[eé]s; рассрочк; розстрочк; кредит; 分期; klarna; afterpay; clearpay; affirm; sezzle; laybuy
    *: scalapay
    *: payl[ae]ter; pay later; pay in \d; in \d payments; interest[- ]free; finance; financ; finanzier
    *: leasing; anzahlung
    *: \d\s?(?:x|×)\s?(?:de\s|of\s|à\s)?(?:[a-z]{0,3}[$€£]|\d+[.,]\d\d)
    en: p/m; pcm; emi; zip ?pay; with zip; apr; down payment; deposit today; up-?front
    en: due (?:today|at signing)
    en: (?:per|a|each) month; payments? of
    de: mtl; pro monat; im monat; \d+ raten; monatsraten?
    fr: par mois; mensualités?; en (?:\d+|plusieurs) fois; \d+ fois
    es pt it: al mes; por m[eê]s; mensualidad\w*; meses sin; prestaç\w+; em \d+ ?x; \d+ ?vezes; al mese; rate
    es pt it: rata
    es pt it: rassegna; rate da; in \d+ rate
    nl: per maand; termijnen; gespreid betalen; p\.m
    pl: na miesiąc; raty; rat[aęy]; \d+ rat; ratalna; paypo
    cs sk: za měsíc; na měsíc; měs; na splátky; za mesiac; twisto
    hu: havi; havonta; részlet\w*; törlesztő\w*
    ro: pe lun[aă]; rat[aăe]; [iî]n rate; rat[eă] lunar\w*
    bg: вноск\w+; на изплащане; месечно; на месец; лизинг
    hr sr bs sl: mjesečno; mesečno; na rate; \d+ rata; obrok[aei]?; na obroke; месечно; рат[ае]
    el: δ[όο]σεις; δ[όο]ση; το μ[ήη]να; μηνια[ίι]\w+; [άα]τοκες
    sv no da: per mån; delbetal\w*; avbetal\w*; per mnd; nedbetaling; delbetaling; pr\.? md; afbetaling
    sv no da: afdrag
    fi et lv lt: osamaksu\w*; kk; erissä; järelmaks\w*; kuumakse; kuus; nomaks\w*; mēnesī; mėn; lizing\w*
    fi et lv lt: išsimokėtinai
    ru uk: мес; платеж\w*; долями; частями; оплата частинами; на місяць; щомісяч\w+
    tr: taksit\w*; ayl[ıi]k; ay boyunca
    he: תשלומים; לחודש; בתשלום
    ar: أقساط; قسط; شهريا; شهرياً; في الشهر; تابي; تمارا; tabby; tamara
    vi id ms: trả góp; mỗi tháng; cicilan; angsuran; ansuran; sebulan; per bulan; kredivo; spaylater; atome
    ja: 月々; 分割; 回払い
    ko: 할부; 무이자; 매월; 개월
    zh: 期免息; 每月; 每期; 月供; 期零利率; 免息
    th: ผ่อน; ต่อเดือน
    hi: किस्त; ईएमआई; प्रति माह
    """
)

SHIPPING = PhrasePattern(
    r"""
    en: shipping; delivery; postage; freight; p&p; minimum order; orders? over; orders? above; spend
    de: versand\w*; lieferung; lieferkosten; porto; mindestbestellwert; bestellwert; ab einem
    fr: livraison; frais de port; frais d'envoi; commande minimum; expédition
    es pt it: env[ií]o; gastos de; entrega; frete; portes; spedizion\w+; consegna; pedido m[íi]nimo
    es pt it: ordine minimo
    es pt it: (?:compras|pedidos|encomendas) (?:superiores|acima|de más|a partir)\w*; ordini superiori
    nl: verzend\w*; bezorg\w*; minimale bestelling
    pl: dostaw\w*; wysyłk\w*; zamówień (?:od|powyżej|za); minimalne zamówienie
    cs sk: doprav\w*; doručen\w+; poštovn[éý]\w*; při nákupu nad; pri nákupe nad; minimální objednávka
    hu: szállítás\w*; szállítási díj; kiszállítás\w*; postaköltség; minimum rendelés
    ro: livrare; transport; comenzi (?:de )?peste; cost livrare
    bg: доставк\w*; поръчк\w+ над
    hr sr bs sl: dostav\w*; poštnin\w*; poštarin\w*; isporuk\w+; nakup nad; narudžb\w+ (?:iznad|preko)
    hr sr bs sl: поштарин\w*; испорук\w+
    el: μεταφορικ\w+; αποστολ[ήη]ς?; [έε]ξοδα; παραγγελ\w+ [άα]νω
    sv no da: frakt\w*; fragt\w*; leverans; levering; porto; (?:köp|order) över
    sv no da: (?:kjøp|ordre|køb) (?:for )?over
    fi et lv lt: toimitus\w*; postikul\w+; tarne\w*; saatmi\w+; piegād\w+; pristatym\w+; siuntim\w+
    ru uk: доставк\w*; заказ\w* (?:от|на сумму); пересылк\w*; замовленн\w+ від
    tr he ar: kargo\w*; teslimat; משלוח; דמי משלוח; شحن; الشحن; توصيل; التوصيل
    vi id ms: phí (?:vận chuyển|ship|giao hàng); vận chuyển; giao hàng; ongkir; ongkos kirim; pengiriman
    vi id ms: penghantaran
    *: free over
    ja: 送料; 配送料?
    ko: 배송비?; 택배비?
    zh: 運費; 运费; 邮费; 配送; 快递; 滿額
    th: ค่าจัดส่ง; ค่าส่ง; จัดส่ง
    hi: डिलीवरी; शिपिंग
    """
)
# Right before the price it says nothing of it: "free shipping €20"; "free shipping over €20" is a threshold.
FREE_SHIPPING = PhrasePattern(
    r"""
    en: free (?:shipping|delivery|postage); (?:shipping|delivery) (?:included|is free)
    de: (?:kostenloser|gratis|inkl\.?) versand; versandkostenfrei; kostenlose lieferung
    fr es pt it: livraison (?:gratuite|offerte); env[ií]o (?:gratis|gratuito|incluido); frete gr[áa]tis
    fr es pt it: portes gr[áa]tis
    fr es pt it: spedizione gratuita; consegna gratuita
    nl pl cs sk: gratis (?:verzending|bezorging); darmowa (?:dostawa|wysyłka); doprava (?:zdarma|zadarmo)
    hu ro bg: ingyenes (?:ki)?szállítás; livrare gratuit[aă]; transport gratuit; безплатна доставка
    hr sr bs sl: besplatna (?:dostava|isporuka); brezplačna dostava
    el: δωρε[άα]ν (?:μεταφορικ[άα]|αποστολ[ήη])
    sv no da fi et lv lt: fri frakt; gratis (?:frakt|fragt|levering)
    fi et lv lt: ilmainen toimitus; tasuta tarne; bezmaksas piegāde
    ru uk tr: бесплатная доставка; безкоштовна доставка; ücretsiz kargo; kargo bedava
    he ar: משלוח חינם; شحن مجاني; توصيل مجاني
    vi id ms: miễn phí (?:vận chuyển|giao hàng); freeship; (?:gratis|bebas) ongkir; penghantaran percuma
    ja ko zh th: 送料無料; 送料込み?; 무료 ?배송; 包邮; 免運費?; 免运费?; ส่งฟรี
    """,
    suffix=r"[^\w:]*$",
)
# "€30 away from free shipping", "10 € bis zum kostenlosen Versand": a missing amount, not the price.
REMAINING = re.compile(
    r"^\W*(?:more (?:for|to|until)|away from|left (?:for|to|until)|until|till|to go|bis zu[mr]?|fehlen|"
    r"de plus pour|más para|in più per|meer voor|do darmowej|do dopravy|do besplatne)\b"
    r".*(?:free|gratis|kostenlos|versandkosten|gratuit|offert|darmow|zdarma|zadarmo|besplat)"
)
ADDITION = re.compile(
    r"^\W*(?:(?:plus|zzgl|zuzügl|excl|exkl|ex|inkl|incl|inc|and|und|&|\+|free|gratis|"
    r"kostenlos|frei|hors|più|więcej|"
    r"darmowa|zdarma|ingyenes|gratuit\w*|безплатна|бесплатная|besplatna|fri|ilmainen|ücretsiz|miễn)\b"
    r"|送料(?:別|込|無料)|무료|免|包)"
)
