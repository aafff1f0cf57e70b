"""Roles of numbers from the words around them, in the languages of shops.

Only a number with the role CURRENT is what one customer pays now for one unit.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Role(StrEnum):
    """The role of a number on a page; only CURRENT is a price to store."""

    CURRENT = "current"
    REGULAR = "regular"
    LIST = "list"
    FROM = "from"
    RANGE = "range"
    INSTALMENT = "instalment"
    PER_UNIT = "per unit"
    NET = "without tax"
    SAVING = "saving"
    SHIPPING = "shipping"
    EXTRA = "extra"
    OTHER_CONDITION = "other condition or seller"
    VARIANT = "variant"
    RELATED = "related product"
    BID = "bid"
    ZERO = "zero"
    NOT_MONEY = "a date, a measure or a count"


_UNITS = (
    r"(?:100|10|1|50|500|1000)?\s?"
    r"(?:kg|kilo(?:gramm?|gramo)?|g|gr|gram(?:m|me|s)?|mg|lb|lbs|pound|(?:fl\.?\s?)?oz|"
    r"(?:fluid )?ounce|l|lt|ltr|lit(?:er|re|ro|"
    r"r)s?|ml|cl|"
    r"m|m2|m²|m³|qm|lfm|sqm|sq\.?\s?m|sq\.?\s?ft|sq\.?\s?m(?:eter|etre)|meter|metre|metro|mtr?|cm|ft|yd|yard|"
    r"round|rd|rnd|shot|dose|dosis|wash|wl|waschladung|lavage|load|serving|portion|tablet|tab|capsule|"
    r"tea\s?bag|"
    r"count|ct|sheet|blatt|night|nacht|noche|nuit|notte|day|tag|week|woche|hour|stunde|person|"
    r"кг|г|л|мл|м|м2|м²|сут|ночь|公斤|公克|克|キロ)"
)

_PER_UNIT = re.compile(
    rf"(?:/|\bper\b|\bpro\b|\bpor\b|\bpar\b|\bje\b|\bal\b|\ba\b|\bza\b|\bna\b|\bза\b|"
    rf"\bper\b)\s?{_UNITS}\b(?!\w)"
    rf"|\b{_UNITS}\s?=|\bper\s(?:unit|100)|grundpreis|unit price|prix au|preis pro|prezzo al|precio por|"
    r"cena za (?:kg|l|100)|base price|\bcpr\b|pret pe unitate",
)

_INSTALMENT = re.compile(
    r"/\s?(?:mo|month|mth|monat|mois|mes|m[êe]s|mese|mies|měs|měsíc|hó|мес|месяц|月|wk|week)\b|"
    r"\b(?:per|pro|par|por|al|im|a|na|za)\s(?:month|monat|mois|mes|m[êe]s|mese|miesiąc|měsíc|lună)|"
    r"\bp/m\b|\bpcm\b|\bmtl\b|monthly|monatlich|mensuel|mensual|mensile|mensili|mensais|lunare|lunar|"
    r"ежемесячно|"
    r"в месяц|мес\b|měsíčně|miesięcznie|månad|måned|kuukau|instal?lment|raten?(?:zahlung|kauf|plan)|"
    r"\brate\b|\braty\b|"
    r"\brată|splátk|cuotas?|parcela|sem juros|sin inter[eé]s|rassegna|\brate da\b|рассрочк|кредит|\bemi\b|"
    r"分期|"
    r"klarna|afterpay|clearpay|affirm|sezzle|laybuy|\bzip\b|scalapay|payl[ae]ter|pay later|pay in \d|"
    r"in \d payments|"
    r"\d\s?(?:x|×)\s?(?:de\s|of\s|à\s)?(?:[a-z]{0,3}[$€£]|\d+[.,]\d\d)|interest[- ]free|finance|financ|"
    r"finanzier|"
    r"leasing|\bapr\b|down payment|anzahlung|deposit today|\bup-?front\b|due (?:today|at signing)",
)

_FROM = re.compile(
    r"(?:\b(?:from|starting (?:at|from)|starts at|as low as|low as|only from|ab|schon ab|à partir de|"
    r"a partir de|"
    r"a partire da|partire da|dès|desde|da|od|już od|fra|från|alkaen|vanaf|от|від|de la|începând de la|"
    r"incepand de la|offers? (?:over|above|around|in excess of|in the region of)|guide price|estimated?|"
    r"min(?:imum|imal|\.)? price|mindestpreis|prix minimum|precio mínimo|"
    r"prezzo minimo|up to|bis zu|jusqu'à|fino a|hasta|até|до|upto)|最低|從)\s?:?\s?$"
)
_FROM_AFTER = re.compile(
    r"^\s?(?:\+(?!\s?\w)|&\s?up|and up|and more|起|から|〜|~|-tól|-től|tól|től|以上|より|alkaen|부터)"
)

_TAX = (
    r"(?:(?:sales )?taxe?s?|vat|gst|hst|mwst|mehrwertsteuer|u\.?st|steuern?|iva|i\.v\.a|tva|t\.v\.a|"
    r"moms|mva|btw|dph|ddv|pdv|kdv|alv|ндс|пдв|ддс|áfa|φπα)"
)
_NET = re.compile(
    r"\b(?:excl?\.?|ex\.?|exkl\.?|exc\.?|excluding|exclusive of|net of|without|before:?|plus|zzgl\.?|"
    r"zuzüglich|ohne|o\.|senza|sin|sans|hors|sem|uten|ekskl\.?|eks\.?|bez|brez|fără|fara|без|χωρίς)\s?"
    rf"(?:\d+\s?%\s?)?(?:gesetzl\w*\.?\s|the\s)?{_TAX}(?!\w)"
    rf"|\b{_TAX}\.?,?\s(?:excl|exkl|ekskl|esclus|exclu|not incl|no incl|não incl|non (?:compris|incl)|"
    r"nicht enthalten|hariç)"
    r"|\bnett[oó]\b|\bnet price\b|\bnettopreis\b|\bh\.?t\.?\b(?!\w)|\+\s?(?:vat|iva|mwst|gst|kdv)\b"
    r"|\bs/\s?iva\b|\balv\s0\s?%|税抜|税别|税別|未税"
)

_LIST = re.compile(
    r"\b(?:was|were|rrp|msrp|srp|list price|m\.?r\.?p|listenpreis|originally|original price|"
    r"instead of|usual(?:ly)?|"
    r"old price|previously|compare at|typical price|retail price|uvp|unverb\.?|statt|zuvor|"
    r"vorher|bisher|"
    r"alter preis|niedrigster|ursprünglich(?:er preis)?|originalpreis|suggested (?:retail )?price|"
    r"streichpreis|au lieu de|avant|prix (?:public|conseillé|barré|initial|d'origine)|"
    r"ancien prix|antes|precio (?:anterior|original|recomendado)|preço original|pvp|pvpr|"
    r"prezzo (?:di listino|originale|"
    r"precedente)|"
    r"invece di|anziché|adviesprijs|van|oude prijs|oorspronkelijke prijs|prp|pret vechi|původní|dříve|"
    r"prețul inițial|pierwotna cena|ursprungliga priset|oprindelige pris|opprinnelig pris|"
    r"alkuperäinen hinta|izvorna cijena|izvirna cena|первоначальная цена|"
    r"najniższa|stara cena|katalogowa|před slevou|prej|tidigare|rek\.?\s?pris|"
    r"førpris|før|veil|eredeti|старая цена|было|раньше|"
    r"lowest price in (?:the )?(?:last )?30|30[- ](?:day|tage|tägiger|dni|giorni|jours|dana)|omnibus)\b"
    r"|\b(?:list|before|de|retail|original):|原價|定價|市價|通常価格|参考価格|元の価格"
)

_REGULAR = re.compile(
    r"\b(?:regular|reg|normal(?:preis|pris|price)?|standard|prix normal|precio normal|prezzo normale|"
    r"běžná cena|cena regularna|redna cena|ordinarie|обычная цена)\b"
)

_SAVING = re.compile(
    r"\b(?:sav(?:e|ing|ings)|you save|discount|off\b|rabatt?|sie sparen|spar(?:en|e|t)?|ersparnis|économ\w+|"
    r"remise|"
    r"ahorr\w+|descuento|risparm\w+|sconto|bespaar|korting|zniżk\w*|oszczędz\w*|sleva|ušetř\w*|popust|"
    r"prihran\w*|"
    r"скидка|экономия|выгода|cash ?back|bonus|points?|punkte|trade[- ]in|rebate)\b|折|省"
)

# The price includes tax, even if the words before it say "without tax" of another price.
_WITH_TAX = (
    r"(?:(?:incl?|inkl|inclusive|including|with|mit|avec|con|med|z|s|vč|cu)\b\.?\s?(?:\d+\s?%\s?)?"
    rf"(?:of )?{_TAX}|{_TAX}\.?,?\s(?:incl|inkl|compris|enthalten|dahil)|ttc\b|t\.t\.c|brutt[oó]\b|税込)"
)
_GROSS = re.compile(rf"^\W*{_WITH_TAX}")
_GROSS_ANYWHERE = re.compile(rf"(?<!\w){_WITH_TAX}")

# A saving in percent is not the label of the price: in "-20% €8", the price is €8.
_PERCENT_SAVING = re.compile(
    r"(?:\b(?:sav\w+|you save|sie sparen|spar\w*|économis\w+|ahorr\w+|risparm\w+|bespaar\w*|rabatt|discount|"
    r"sleva|скидка)"
    r"\W{0,3})?[-−–]?\s?\d+(?:[.,]\d+)?\s?%\W{0,2}(?:\b(?:off|rabatt|discount|gespart|saved|less|"
    r"de (?:descuento|remise|"
    r"desconto|réduction)|korting|sconto|zniżki|slevy?|popusta|скидк\w*))?"
)

# "€10 off" is a saving; "€10 save 20%" is a price.
_SAVED = re.compile(
    r"^\W*(?:off|saved|saving|gespart|rabatt|discount|remise|réduction|descuento|de descuento|sconto|"
    r"korting|zniżki|slevy|"
    r"popusta|скидк\w*|cash ?back|bonus|points?|punkte|折|點)\b"
)

_COUPON = re.compile(
    r"\b(?:coupon|voucher|gutschein\w*|promo(?:tion)?(?:al)? code|code promo|rabattcode|cup[oó]n|buono|"
    r"kod rabatowy|"
    r"промокод|купон|gift card|geschenkkarte|with code|mit code|coins?)\b|折價券|クーポン"
)

_SHIPPING = re.compile(
    r"\b(?:shipping|delivery|postage|freight|p&p|versand\w*|lieferung|lieferkosten|porto|livraison|"
    r"frais de port|"
    r"env[ií]o|gastos de|spedizion\w+|consegna|entrega|frete|portes|verzend\w*|bezorg\w*|dostaw\w*|"
    r"wysyłk\w*|doprav\w*|"
    r"poštnin\w*|dostava|livrare|transport|frakt|leverans|levering|toimitus|szállítás|доставк\w*|доставка|"
    r"kargo|minimum order|mindestbestellwert|orders? over|orders? above|spend|bestellwert|"
    r"ab einem)\b|free over|運費|送料|配送"
)

_EXTRA = re.compile(
    r"\b(?:warranty|protection plan|guarantee plan|garantie(?:verlängerung)?|garantía|garanzia|insurance|"
    r"versicherung|"
    r"assurance|care plan|applecare|gift ?wrap\w*|geschenkverpackung|geschenkbox|deposit|pfand|installation|"
    r"montage|assembly|einbau|"
    r"setup fee|recycling|eco[- ]?part\w*|copyright levy|handling|membership|mitglied\w*|subscribe|"
    r"abo(?:nnement)?|spar-abo|"
    r"suscr\w+|with prime|prime price|страховк\w*|гарантия|установка)\b"
)

_OTHER_CONDITION = re.compile(
    r"\b(?:open[- ]box|used|pre[- ]?owned|second[- ]?hand|refurbished|renewed|gebraucht\w*|b-ware|"
    r"generalüberholt|"
    r"occasion|reconditionné|usad[oa]|ricondizionat\w+|segunda mano|reacondicionad\w+|tweedehands|"
    r"używan\w*|rozbalen\w*|bazar\w*|б/у|уценк\w*)\b|中古|\bnew \(\d+\)|\bused \(\d+\)|other sellers?|"
    r"weitere anbieter|"
    r"andere verk|autres vendeurs|otros vendedores|alte oferte|more offers|weitere angebote|oferte de la|"
    r"buying options"
)

_BID = re.compile(
    r"\b(?:(?:current|starting|highest|winning|minimum|opening|your) bid|bids?:|"
    r"(?:höchst|start|mindest|aktuelles )gebot|enchère|puja|offerta attuale|lance (?:atual|inicial)|"
    r"huidig bod|licytac\w*|nykyinen tarjous|højeste bud|текущая ставка)|現在価格|入札"
    r"|\b\d+ (?:bids?|gebote?|enchères?|pujas?|biedingen|offerte|ofert|bud)\b"
)


_LABEL_LENGTH = 48
_ADJACENT_LENGTH = 28

# Patterns for the text before a number; the first match decides.
_BEFORE = (
    (_BID, Role.BID),
    (_INSTALMENT, Role.INSTALMENT),
    (_PER_UNIT, Role.PER_UNIT),
    (_SHIPPING, Role.SHIPPING),
    (_SAVING, Role.SAVING),
    (_COUPON, Role.SAVING),
    (_OTHER_CONDITION, Role.OTHER_CONDITION),
    (_EXTRA, Role.EXTRA),
    (_NET, Role.NET),
    (_LIST, Role.LIST),
    (_REGULAR, Role.REGULAR),
)
# A from-price may be of something else than the product: "used from €5".
_FROM_OTHER = (
    (_INSTALMENT, Role.INSTALMENT),
    (_OTHER_CONDITION, Role.OTHER_CONDITION),
    (_SHIPPING, Role.SHIPPING),
    (_EXTRA, Role.EXTRA),
)
# "€30 away from free shipping", "10 € bis zum kostenlosen Versand": a missing amount, not the price.
_REMAINING = re.compile(
    r"^\W*(?:more (?:for|to|until)|away from|left (?:for|to|until)|until|till|to go|bis zu[mr]?|fehlen|"
    r"de plus pour|más para|in più per|meer voor)\b.*(?:free|gratis|kostenlos|versandkosten|gratuit|offert)"
)
# "€24 m²" is a price per square metre.
_MEASURE = re.compile(r"^\W?(?:m²|m2|qm|sqm|kg|lfm)(?!\w)")
_AFTER = (
    (_BID, Role.BID),
    (_REMAINING, Role.SHIPPING),
    (_MEASURE, Role.PER_UNIT),
    (_INSTALMENT, Role.INSTALMENT),
    (_PER_UNIT, Role.PER_UNIT),
    (_NET, Role.NET),
)
_LEVY = re.compile(r"^\W*(?:d['’]|de |of )?(?:[ée]co[- ]?(?:part\w*|tax\w*)|copyright levy|recycling fee)")
# Patterns that count only right after the number: "€5.99 delivery", but not "€20 plus delivery".
_NEXT = (
    (_SHIPPING, Role.SHIPPING),
    (_SAVED, Role.SAVING),
    (_COUPON, Role.SAVING),
    (_LIST, Role.LIST),
    (_LEVY, Role.EXTRA),
)
_NEXT_LENGTH = 14
# Words with a colon label the next number: "€12 without tax: €10".
_COLON = re.compile(r"\.?\s?:")
_ADDITION = re.compile(
    r"^\W*(?:(?:plus|zzgl|zuzügl|excl|exkl|ex|inkl|incl|inc|and|und|&|\+|free|gratis|kostenlos|frei|hors|più)\b"
    r"|送料(?:別|込|無料))"
)


def includes_tax(text: str) -> bool:
    """Whether a lower-case text says that its price includes tax."""
    return _GROSS_ANYWHERE.search(text) is not None


def without_tax_words(text: str) -> str:
    """A lower-case text without the words that say that its price includes tax."""
    return _GROSS_ANYWHERE.sub(" ", text)


def role_from_context(before: str, after: str, *, is_last: bool = True) -> Role:
    """The role of a number from the lower-case text around it; `is_last` if no number follows.

    Words between two numbers label the second, unless they directly follow the first ("10 € / month").
    """
    label = _PERCENT_SAVING.sub(" ", before) if "%" in before else before
    label = label.rstrip()[-_LABEL_LENGTH:]
    tail = after.lstrip()[:_ADJACENT_LENGTH]
    if not any(map(str.isalpha, label)) and not any(map(str.isalpha, tail)) and not _FROM_AFTER.search(tail):
        return Role.CURRENT
    if _FROM.search(label) or _FROM_AFTER.search(tail):
        if _INSTALMENT.search(tail):
            return Role.INSTALMENT
        return next((role for pattern, role in _FROM_OTHER if pattern.search(label)), Role.FROM)
    for pattern, role in _BEFORE:
        if pattern.search(label) and not (role is Role.NET and _GROSS.search(tail)):
            return role
    for pattern, role in _AFTER:
        match = pattern.search(tail)
        if match and (is_last or (match.start() <= 1 and not _COLON.match(tail, match.end()))):
            return role
    if is_last and not _ADDITION.search(tail):
        for pattern, role in _NEXT:
            if pattern.search(tail[:_NEXT_LENGTH]):
                return role
    return Role.CURRENT
