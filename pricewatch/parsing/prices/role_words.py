"""Words that tell the price from other amounts of the product; in the languages of shops, in lower case."""

from __future__ import annotations

import re

from pricewatch.parsing.phrase_table import PhrasePattern

# Words right before a number that is the lowest or the highest of several prices.
FROM = PhrasePattern(
    r"""
    en: from; starting (?:at|from); starts at; as low as; low as; only from; guide price; estimated?; up to
    en: upto
    en: offers? (?:over|above|around|in excess of|in the region of); min(?:imum|imal|\.)? price
    de: ab; schon ab; mindestpreis; bis zu
    fr: à partir d[eu']; dès; prix minimum; jusqu'à
    es: a partir de; desde; precio mínimo; hasta
    it: a partire da; partire da; da; prezzo minimo; fino a
    pt: a partir de; desde; até
    nl: vanaf; tot
    pl: od; już od; aż do
    cs sk: od; již od; už od; až do
    hu: akár; kezdőár
    ro: de la; [iî]ncep[aâ]nd de la; p[aâ]n[aă] la
    bg ru uk: от; від; до; цена от; начиная с
    hr sr bs sl: od; već od; že od
    el: απ[όο]; [έε]ως
    sv no da: från; fra; fr\.; upp till; opptil; op til
    fi et lv lt: alkaen; alates; sākot no; nuo
    tr: başlayan fiyatlarla
    he: החל מ; החל מ-; עד
    ar: من; ابتداء من; ابتداءً من; يبدأ من; تبدأ من; بدءا من
    vi: từ; chỉ từ; giá từ
    id ms: mulai(?: dari)?; dari; bermula(?: dari)?; serendah
    ja: 最低; 最安値?
    ko: 최저가?
    zh: 最低; 從; 从; 低至
    th: เริ่มต้น(?:ที่)?; ตั้งแต่
    hi: शुरुआती
    """,
    suffix=r"\s?:?\s?$",
)
FROM_AFTER = re.compile(
    r"^\s?(?:\+(?!\s?\w)|&\s?up|and up|and more|起|から|〜|~|-tól|-től|tól|től|以上|より|alkaen|부터|"
    r"ขึ้นไป|से शुरू|"
    r"'?d[ae]n (?:başlayan|itibaren)|trở lên|и выше|i więcej)"
)

LIST = PhrasePattern(
    r"""
    en: was; were; rrp; msrp; srp; list price; m\.?r\.?p; originally; original price; instead of; usual(?:ly)?
    en: old price; previously; compare at; typical price; retail price; suggested (?:retail )?price
    en: full price
    en: lowest price in (?:the )?(?:last )?30
    en: 30[- ](?:day|tage|tägiger|dni|giorni|jours|dana|dní|дней|днів|gün)
    en: omnibus; comparable value; (?:est\.?|estimated) retail; retail value; prior price; market price
    en: lowest (?:recent|prior|previous) price
    de: listenpreis; uvp; unverb\.?; statt; zuvor; vorher; bisher; alter preis; niedrigster; tiefster preis
    de: ursprünglich(?:er preis)?; originalpreis; streichpreis; früher; ehemals; ehem\.; ladenpreis
    de: empf\. verkaufspreis; bisheriger preis; letzter niedrigster preis
    fr: au lieu de; avant; ancien prix; était; le plus bas
    fr: prix (?:fort|constaté|catalogue|de base|le plus bas)
    fr: prix (?:public|conseillé|barré|initial|d'origine|de référence|de vente conseillé|sans remise)
    es: antes
    es: precio (?:anterior|original|recomendado|de lista|tachado|más bajo|público|de referencia|lista|viejo)
    es: pvp; pvpr
    it: prezzo (?:di listino|originale|precedente|consigliato|pieno|intero|più basso|barrato|iniziale)
    it: invece di; anziché; listino; prima(?=:)
    pt: preço (?:original|de tabela|anterior|antigo|recomendado|mais baixo|de lista|de venda recomendado)
    *: ^de:?$; \bera:?$; \b(?:list|before|de|retail|original):
    nl: adviesprijs; van; oude prijs; oorspronkelijke prijs; voorheen; laagste prijs; catalogusprijs
    pl: najniższa; stara cena; katalogowa; pierwotna cena; sugerowana; przekreślona; poprzednia cena; zamiast
    pl: cena (?:pierwotna|poprzednia|rynkowa|detaliczna); wcześniej
    cs: původní; dříve; doporučená; nejnižší cena; místo; původně; katalogová cena; přeškrtnutá
    sk: pôvodn[áeéý]; pôvodná cena; predtým; odporúčaná; najnižšia cena; namiesto
    hu: eredeti; korábbi; régi ár; listaár; ajánlott (?:fogyasztói )?ár; legalacsonyabb; áthúzott
    ro: prp; pre[tțţ] (?:vechi|ini[tțţ]ial|de list[aă]|recomandat|anterior|[iî]ntreg)
    ro: pre[tțţ]ul (?:ini[tțţ]ial|vechi)
    ro: cel mai mic pre[tțţ]; redus de la; [iî]n loc de
    bg: стара цена; предишна цена; препоръчителна цена; пцд; най-ниска цена; вместо; каталожна цена
    hr sr bs: stara (?:cijena|cena); prije; ranije; prethodna (?:cijena|cena); najniža (?:cijena|cena)
    hr sr bs: preporučena
    hr sr bs: izvorna cijena; originalna (?:cijena|cena); umjesto; umesto; стара цена; најнижа цена
    sl: prej; stara cena; izvirna cena; najnižja cena; priporočena; pmpc; namesto
    el: αρχικ[ήη] τιμ[ήη]; παλι[άα] τιμ[ήη]; π\.?λ\.?τ; προτειν[όο]μενη; πριν; τιμ[ήη] καταλ[όο]γου; αντ[ίι]
    el: [ήη]ταν
    el: χαμηλ[όο]τερη τιμ[ήη]
    sv: tidigare; rek\.?\s?pris; ursprungliga priset; ursprung(?:ligt |s)pris; rekommenderat
    sv: lägsta pris(?:et)?
    sv: gammalt pris; listpris
    no da: førpris; før; veil; veil\.; veiledende; vejl; vejl\.; vejledende; tidligere; laveste pris
    no da: listepris
    no da: oprindelige pris; opprinnelig pris; oprindelig; opprinnelig; gammel pris; førsalgspris
    fi: alkuperäinen hinta; ovh; aiemmin; ennen; suositushinta; ohjehinta; alin hinta; vanha hinta
    fi: edellinen hinta
    et: vana hind; endine hind; madalaim hind; soovituslik; alghind
    lv: vecā cena; iepriekšējā cena; sākotnējā cena; zemākā cena; ieteicamā
    lt: sena kaina; ankstesnė; pradinė kaina; mažiausia kaina; žemiausia; rekomenduojama; buvo
    ru: старая цена; было; раньше; первоначальная цена; рекомендованная; ррц; прежняя цена; вместо
    ru: минимальная цена
    uk: стара ціна; було; раніше; початкова ціна; рекомендована; замість; найнижча ціна
    tr: eski fiyat\w*; önceki fiyat\w*; liste fiyat[ıi]; piyasa fiyat[ıi]; psf; tavsiye edilen; son 30 gün\w*
    tr: en düşük fiyat\w*; etiket fiyat[ıi]
    he: מחיר (?:מקורי|קודם|מחירון|מלא|שוק); במקום; מחירון; היה
    ar: السعر (?:السابق|الأصلي|القديم); سعر (?:سابق|أصلي|قديم|التجزئة); كان; بدلا من; بدلاً من
    vi: giá (?:gốc|niêm yết|cũ|thị trường|bìa|hãng|trước đây); niêm yết
    id ms: harga (?:asli|awal|coret|lama|asal|pasaran|eceran); sebelumnya
    ja: 通常価格; 参考価格; 元の価格; 定価; 希望小売; 標準価格; 旧価格; 当店通常; 元値
    ko: 정가; 정상가; 소비자가; 기존가; 출시가; 권장 ?소비자; 원래 ?가격
    zh: 原價; 原价; 定價; 定价; 市價; 市价; 市场价; 市場價; 建議售價; 建议零售; 建議零售; 吊牌價; 吊牌价
    zh: 專櫃價; 专柜价
    zh: 劃線價; 划线价; 参考价; 參考價; 折前; 指导价
    th: ราคาปกติ; ราคาเดิม; ราคาเต็ม; จากราคา
    hi: एमआरपी; एम\.आर\.पी; पुरान[ाी] (?:मूल्य|कीमत); मूल कीमत; अधिकतम खुदरा मूल्य
    """
)
# Right after the number: "10 000 Ft helyett 8 000 Ft".
INSTEAD_AFTER = re.compile(r"^\W{0,2}(?:helyett|yerine)\b")
# Checked before the words for savings, which these contain.
WITHOUT_DISCOUNT = PhrasePattern(
    r"""
    en: without (?:the |a )?(?:discount|saving)s?; before (?:the )?(?:discount|sale|promotion|saving)s?
    en: non-sale price
    de: ohne (?:den )?rabatt; vor (?:dem )?rabatt
    fr: sans (?:la )?(?:remise|réduction|promo\w*); avant (?:remise|réduction|promo\w*)
    es pt it: sin (?:el )?descuento; antes del? descuento; sem desconto; antes do desconto; senza sconto
    es pt it: prima dello sconto
    nl: zonder korting; voor korting
    pl: bez (?:rabatu|zniżki|promocji); przed (?:obniżką|rabatem|zniżką|promocją)
    cs sk: bez (?:slevy|zľavy); před slevou; pred zľavou
    hu: kedvezmény nélkül; akció előtt\w*
    ro: f[aă]r[aă] (?:reducere|discount); [iî]nainte de reducere
    bg ru uk: без отстъпка; преди отстъпката; без скидки; до скидки; без знижки; до знижки
    hr sr bs sl: bez popusta; brez popusta; prije popusta; pre popusta; без попуста
    el: χωρ[ίι]ς [έε]κπτωση; πριν (?:την )?[έε]κπτωση
    sv no da: utan rabatt; före rabatt; uten rabatt; før rabatt; uden rabat; før rabat
    fi et lv lt: ilman alennusta; ennen alennusta; ilma soodustuseta; soodustuseta; bez atlaides; be nuolaidos
    tr: indirimsiz; indirim öncesi
    he ar: לפני (?:ה)?הנחה; ללא הנחה; قبل الخصم; بدون خصم
    vi id ms: chưa giảm; trước khi giảm; sebelum diskon; sebelum diskaun; tanpa diskon
    ja ko zh th: 値引き?前; 割引前; セール前; 할인 ?전; 折前; 優惠前; 优惠前; ราคาก่อนลด; ก่อนลด
    """
)

REGULAR = PhrasePattern(
    r"""
    en: regular; reg; normal(?:preis|pris|price)?; standard; everyday price
    fr es pt it: prix (?:normal|habituel); precio (?:normal|habitual); preço normal; prezzo normale
    nl: normaal; normale prijs
    pl: cena regularna; regularna; cena normalna; standardowa
    cs sk: běžná cena; běžně; bežná cena; bežne
    hu ro bg: normál ár; pre[tțţ] (?:normal|standard|[iî]ntreg); редовна цена; нормална цена
    hr sr bs sl: redovna (?:cijena|cena); redna cena; redovno; редовна цена
    el: κανονικ[ήη] τιμ[ήη]
    sv no da: ordinarie; ord\.? ?pris; ordinær; ordinært; normalt
    fi et lv lt: norm\.?; normaalihinta; tavahind; parastā cena; įprasta kaina; įprastinė
    ru uk: обычная цена; звичайна ціна
    tr he ar: normal fiyat\w*; מחיר רגיל; السعر (?:العادي|المعتاد)
    vi id ms: giá thường; harga (?:normal|biasa)
    """
)

SAVING = PhrasePattern(
    r"""
    en: sav(?:e|ing|ings); you save; discount; off; cash ?back; bonus; points?; trade[- ]in; rebate
    en: part[- ]exchange
    de: rabatt?; sie sparen; spar(?:en|e|t)?; ersparnis; punkte; inzahlungnahme; nachlass; preisvorteil
    de: eintausch(?:wert|prämie)?
    fr: économ\w+; remise; réduction; reprise; fidélité
    es pt it: ahorr\w+; descuento; desconto; econom(?:iz|ia)\w*; poup\w+; risparm\w+; sconto; permuta
    nl: bespaar\w*; korting; inruil\w*; voordeel
    pl: zniżk\w*; oszczędz\w*; taniej; rabat(?:u|em)?; punkt(?:y|ów)
    cs sk: sleva; slevy; ušetř\w*; zľav[ay]; ušetr\w*; úspora; výkup
    hu ro: kedvezmény; megtakarítás; reducere; economis\w+; economie
    bg: отстъпка; спест\w+
    hr sr bs sl: popust; prihran\w*; ušted\w+; попуст; уштед\w+
    el: [έε]κπτωση; κερδ[ίι]ζε\w+; εξοικον\w+; όφελος
    sv no da: rabatt; rabat; spara; sparar; sparer; inbyte; innbytte
    fi et lv lt: alennus; säästä\w*; soodustus; säästad; võidad; atlaide; ietaup\w+; nuolaida; sutaup\w+
    ru uk: скидка; экономия; экономите; выгода; знижка; економія; вигода; балл\w*; бонус\w*; трейд-?ин
    tr: indirim; indirimi; kazanç; kazanc[ıi]n[ıi]z; tasarruf; puan
    he ar: הנחה; חיסכון; חסכת; תחסכו; نقاط; خصم; وفر; توفير; وفّر
    vi id ms: tiết kiệm; giảm giá; giảm; điểm; hemat; diskon; potongan; poin; jimat; diskaun
    ja: 割引; 値引; お得; ポイント; 下取
    ko: 할인; 적립; 포인트
    zh: 折; 省; 立减; 立減; 直降; 满减; 滿減; 积分; 點數; 優惠; 优惠; 回饋
    th: ส่วนลด; ประหยัด
    hi: छूट; बचत; बचाएं
    """
)

# Labels of the price to pay; they contain words for savings. They are removed before the other checks.
REDUCED_PRICE = PhrasePattern(
    r"""
    en: discount(?:ed)? price; (?:price )?after (?:the )?discount; sale price; price with discount; your price
    de: rabattpreis; sonderpreis; sparpreis; (?:preis )?nach rabatt; reduzierter preis
    fr: prix (?:remisé|réduit|après remise|avec remise); après remise
    es pt it: precio con descuento; con descuento; preço com desconto; com desconto; prezzo scontato; scontato
    nl: (?:prijs )?na korting; met korting
    pl: (?:cena )?po (?:rabacie|zniżce|obniżce); cena z rabatem
    cs sk: (?:cena )?po slevě; (?:cena )?po zľave; cena se slevou; cena so zľavou
    hu ro bg: kedvezményes ár; pre[tțţ] (?:redus|cu reducere|promo[tțţ]ional); цена с отстъпка
    hr sr bs sl: (?:cijena|cena) (?:sa |s |z )?popustom; цена са попустом; akcijska (?:cijena|cena)
    el: τιμ[ήη] με [έε]κπτωση; τελικ[ήη] τιμ[ήη]
    sv no da: (?:pris )?efter rabatt; (?:pris )?etter rabatt; (?:pris )?efter rabat
    fi et lv lt: alennettu hinta; soodushind; cena ar atlaidi; kaina su nuolaida
    ru uk: (?:цена )?со скидкой; с уч[её]том скидки; (?:ціна )?зі знижкою
    tr: indirimli(?: fiyat\w*)?; sepette
    he ar: מחיר אחרי הנחה; אחרי הנחה; السعر بعد الخصم; بعد الخصم
    vi id ms: giảm còn; giảm giá còn; giá (?:giảm|sau giảm|khuyến mãi); sau khi giảm; harga diskon
    vi id ms: setelah diskon
    ja: 割引(?:後)?価格; 割引後; 値引き?後; お得な価格; 特別価格
    ko: 할인 ?(?:된 ?)?(?:판매)?가격?; 할인 ?적용가
    zh: 折後價?; 折后价?; 折扣價; 折扣价; 優惠價; 优惠价; 特惠價; 特惠价
    th: ราคาหลังหักส่วนลด; หลังหักส่วนลด
    hi: छूट के बाद
    """
)

# A saving in percent is not the label of the price: in "-20% €8", the price is €8.
PERCENT_SAVING = re.compile(
    r"(?:\b(?:sav\w+|you save|sie sparen|spar\w*|économis\w+|ahorr\w+|risparm\w+|bespaar\w*|"
    r"rabatt|discount|"
    r"sleva|zľava|rabat|zniżka|popust|reducere|kedvezmény|отстъпка|скидка|знижка|indirim|"
    r"desconto|alennus)"
    r"\W{0,3})?[-−–]?\s?(?<!\d)\d++(?:[.,]\d++)?\s?%\W{0,2}(?:\b(?:off|rabatt?|discount|gespart|saved|less|"
    r"de (?:descuento|remise|desconto|réduction)|korting|sconto|zniżki|slevy?|zľavy?|popusta?|reducere|"
    r"отстъпка|скидк\w*|знижк\w*|indirim\w*|alennus|הנחה|خصم|diskon|giảm)|オフ|引き?|할인)?"
)
# "€10 off" is a saving; "€10 save 20%" is a price.
SAVED = re.compile(
    r"^\W*(?:(?:off|saved|saving|gespart|rabatt?|discount|remise|réduction|"
    r"(?:de )?(?:descuento|desconto)|sconto|"
    r"korting|zniżki|taniej|slevy|zľavy|popusta|reducere|отстъпка|скидк\w*|знижк\w*|indirim|"
    r"cash ?back|bonus|"
    r"points?|punkte|punktów|bodov|bodů|балл\w*|alennus|הנחה|خصم|diskon|折|點)\b|オフ|引き|ポイント|할인|적립)"
)
COUPON = PhrasePattern(
    r"""
    en: coupon; voucher; promo(?:tion)?(?:al)? code; gift card; with code; coins?
    de: gutschein\w*; rabattcode; geschenkkarte; mit code
    fr es pt it: code promo; bon d'achat; cup[oó]n; cupom; buono; codice sconto
    nl pl: kortingscode; kod rabatowy; z kodem; kupon\w*
    cs sk hu ro: slevov\w+ k[óo]d\w*; s kódem; zľavov\w+ kód\w*; kup[óo]n\w*; kuponkód\w*
    cs sk hu ro: cod (?:de )?(?:reducere|promo\w*)
    bg ru uk hr sr sl: промокод\w*; купон\w*; ваучер\w*; промо код; kod za popust; koda za popust
    sv no da fi et: rabattkod; kampanjkod; rabattkode; rabatkode; kupong; alennuskoodi; sooduskood
    tr he ar: kuponu?; קופון; كوبون; قسيمة
    vi id ms: mã giảm; kupon; baucar
    ja ko zh th: 折價券; クーポン; 쿠폰; 优惠券; 優惠券; 券后; 券後; 領券; คูปอง; โค้ด
    """
)
