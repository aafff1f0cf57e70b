"""Currency codes of signs and words.

A mark that several currencies share is resolved by hints: the page, its domain or its language.
"""

from __future__ import annotations

from collections.abc import Iterable

from pricewatch.money import ISO_4217
from pricewatch.parsing.text import word_set

# Obsolete codes and common misspellings.
_OTHER_CODES = {
    "RUR": "RUB",
    "RMB": "CNY",
    "NIS": "ILS",
    "NTD": "TWD",
    "BYR": "BYN",
    "EURO": "EUR",
    "TRL": "TRY",
}

# Currencies with Indian digit grouping: 1,23,456.
INDIAN_GROUPING = frozenset({"INR", "PKR", "BDT", "NPR", "LKR"})
# Code of marks that are also ordinary words: such a mark counts only with a hint.
ORDINARY_WORD = "XXX"


def _rows(table: str) -> list[str]:
    return table.replace("\n", ";").strip("; ").split(";")


def _marks(table: str) -> dict[str, tuple[str, ...]]:
    """Parse rows of marks and, after the equals sign, their possible currencies."""
    rows = (row.split("=") for row in _rows(table))
    return {mark: tuple(codes.split()) for marks, codes in rows for mark in marks.split()}


# Signs count wherever they touch a number.
SIGNS = _marks(
    """
    € = EUR; £ = GBP; $ = USD CAD AUD NZD SGD HKD TWD MXN ARS CLP COP UYU BRL NAD JMD; ¥ ￥ = JPY CNY
    ₽ = RUB; ₹ = INR; ₨ = INR PKR LKR NPR MUR SCR; ₩ ￦ 원 = KRW; ₺ = TRY; ₴ = UAH; ₪ = ILS; ₫ = VND
    ฿ = THB; ₱ = PHP; ₦ = NGN; ₡ = CRC; ₲ = PYG; ₸ = KZT; ₼ = AZN; ₾ = GEL; ₮ = MNT; ₭ = LAK; ៛ = KHR
    ₵ = GHS; ৳ = BDT; ֏ = AMD; 円 JP¥ = JPY; 元 = CNY TWD HKD; 圓 = TWD HKD; US$ U$S USD$ = USD; CA$ = CAD
    C$ = CAD NIO; AU$ A$ = AUD; NZ$ = NZD; HK$ = HKD; NT$ = TWD; SG$ S$ = SGD; MX$ = MXN; R$ = BRL
    AR$ = ARS; CLP$ = CLP; COP$ = COP; RD$ = DOP; J$ = JMD; TT$ = TTD; CN¥ = CNY; S/ S/. = PEN
    U$D = USD; $U = UYU; N$ = NAD; EC$ = XCD; BZ$ = BZD; FJ$ = FJD; MOP$ = MOP; B/. = PAB
    ﷼ = SAR IRR OMR QAR YER; ⃁ = SAR; ரூ = INR LKR; රු = LKR; ლარი = GEL
    美元 美金 = USD; 日元 日圓 = JPY; 欧元 歐元 = EUR
    港元 港幣 港币 = HKD; 新台幣 新臺幣 台幣 = TWD; 人民币 人民幣 = CNY
    韩元 韓元 = KRW; 英镑 英鎊 = GBP; 加元 = CAD; 澳元 = AUD
    """
)

# Words count only if they stand alone next to a number; some have the code of ORDINARY_WORD.
WORDS = _marks(
    """
    euro euros eur ευρώ ευρω евро євро יורו يورو = EUR; zł złotych złote pln = PLN; zl = PLN XXX
    kč czk korun = CZK; kc = CZK XXX; huf forint = HUF; ft = HUF XXX; lei leu = RON MDL; ron = RON XXX
    лей леев = MDL; лв лева bgn = BGN; lv = BGN XXX; kr kr. = SEK NOK DKK ISK; sek = SEK XXX; kronor = SEK
    kroner = NOK DKK; nok = NOK; dkk = DKK; krónur = ISK; gbp = GBP; pounds = GBP XXX; usd = USD; chf = CHF
    cad = CAD XXX; aud = AUD; nzd = NZD; sgd = SGD; rs rs. = INR PKR LKR NPR MUR SCR; inr = INR
    रु रू रुपये रुपए रुपया = INR NPR; rupees = INR PKR LKR NPR MUR SCR; টাকা = BDT; tk taka = BDT XXX
    rp = IDR XXX; rupiah idr = IDR; rm = MYR XXX; ringgit myr = MYR; руб рублей рубля рубль = RUB; р = RUB BYN
    byn бел.руб = BYN; грн гривень гривні гривен uah = UAH; тг тнг тенге = KZT; сум сўм so'm so‘m = UZS
    сом = KGS; сомони = TJS; төгрөг = MNT; дин рсд rsd динара dinara = RSD; din = RSD XXX; ден денари = MKD
    den = MKD XXX; km км = BAM XXX; lekë = ALL; lek = ALL XXX; tl = TRY XXX; lira lirası = TRY XXX
    sfr = CHF; fr = CHF XXX; francs = CHF XOF XAF XPF; fcfa cfa = XOF XAF
    r rand = ZAR XXX; zar = ZAR
    ksh kshs = KES; tsh tshs = TZS; ush ugx = UGX; birr = ETB; br = ETB BYN XXX; naira = NGN
    dh = MAD AED; dhs درهم دراهم dirham dirhams = AED MAD; د.م = MAD; د.إ aed = AED
    ريال ريالات = SAR QAR OMR YER; riyal riyals = SAR QAR OMR YER; ر.س رس sar = SAR; ر.ق = QAR; ر.ع = OMR
    ر.ي = YER; ج.م جنيه جنيهات جنية = EGP; ج.س = SDG; le = EGP XXX; د.ك = KWD; د.ب = BHD; د.ع = IQD; د.أ = JOD
    د.ل = LYD; د.ت = TND; dt = TND XXX; د.ج دج = DZD; da = DZD XXX; دينار = IQD JOD KWD BHD TND DZD LYD
    ل.ل = LBP; ل.س = SYP; ليرة = LBP SYP TRY; ש"ח ש״ח שח שקל שקלים = ILS
    บาท baht = THB; đ vnđ đồng vnd = VND; yen = JPY XXX; yuan = CNY; won = KRW XXX; php = PHP
    reais brl = BRL; real = BRL XXX; soles = PEN; bs = BOB VES XXX; bolivianos = BOB; bolívares = VES
    q = GTQ XXX; quetzales = GTQ; l = HNL XXX; lps lempiras = HNL; colones = CRC; gs = PYG XXX
    guaraníes guaranies = PYG; mxn = MXN
    dollars = USD CAD AUD NZD SGD HKD TWD MXN ARS CLP COP UYU BRL NAD JMD
    pesos = MXN ARS CLP COP UYU PHP DOP; ман = AZN; манат manat = AZN TMT; man = AZN XXX; դրամ драм = AMD
    """
)


def _pairs(table: str) -> dict[str, str]:
    """Map each word of a row to the last one."""
    rows = (row.split() for row in _rows(table))
    return {key: row[-1] for row in rows for key in row[:-1]}


_COUNTRY_CURRENCY = _pairs(
    """
    at be bg cy de ee es fi fr gr hr ie it lt lu lv mc me mt nl pt si sk sm va xk EUR; uk gb GBP; us USD
    ca CAD; au AUD; nz NZD; sg SGD; hk HKD; tw TWD; mx MXN; ar ARS; cl CLP; co COP; uy UYU; br BRL
    pe PEN; jp JPY; cn CNY; kr KRW; in INR; pk PKR; lk LKR; np NPR; se SEK; no NOK; dk DKK; is ISK
    ch li CHF; pl PLN; cz CZK; hu HUF; ro RON; md MDL; ru RUB; by BYN; ua UAH; kz KZT; uz UZS; kg KGS
    rs RSD; mk MKD; ba BAM; tr TRY; il ILS; ae AED; sa SAR; qa QAR; om OMR; kw KWD; bh BHD; eg EGP
    ma MAD; tn TND; za ZAR; ke KES; ng NGN; gh GHS; th THB; vn VND; my MYR; id IDR; ph PHP; bd BDT
    py PYG; do DOP; jm JMD; na NAD; mu MUR; az AZN; ge GEL; am AMD
    dz DZD; iq IQD; jo JOD; lb LBP; ly LYD; bo BOB; gt GTQ
    hn HNL; ni NIO; cr CRC; pa PAB; ve VES; tz TZS; ug UGX; et ETB; al ALL; mn MNT; tj TJS; mo MOP; ye YER
    sy SYP; ir IRR; tm TMT
    """
)

# Languages that are used by shops of one country.
_LANGUAGE_COUNTRY = _pairs(
    """
    hu hu; cs cz; pl pl; ro ro; da dk; sv se; nb nn no no; uk ua; ja jp; ko kr; th th; vi vn; he il
    tr tr; is is; id id; kk kz; sk sk; sl si; fi fi; et ee; lv lv; lt lt; el gr; it it; sr rs; mk mk
    ka ge
    """
)

# Country domains that shops of other countries use; they do not indicate a currency.
_GENERIC_COUNTRY_DOMAINS = word_set("co me io tv ai cc ly la to fm am gg sh ws is")


def currency_code(text: str | None) -> str | None:
    """The ISO 4217 code of a currency field, which may hold a code or a sign; None for a shared sign."""
    if not text:
        return None
    bare = text.strip().rstrip(".").upper()
    code = _OTHER_CODES.get(bare, bare)
    if code in ISO_4217:
        return code
    codes = SIGNS.get(text.strip()) or WORDS.get(bare.lower()) or ()
    return codes[0] if len(codes) == 1 and codes[0] in ISO_4217 else None


def resolve_currency(codes: tuple[str, ...], hints: Iterable[str]) -> str | None:
    """The currency of a mark; a shared mark takes the first hint that is among its codes."""
    if len(codes) == 1:
        return codes[0] if codes[0] in ISO_4217 else None
    return next((hint for hint in hints if hint in codes), None)


def domain_currency(host: str) -> str | None:
    """The currency of a country domain; None for generic domains."""
    top = host.rstrip(".").rpartition(".")[2].lower()
    second_level = host.count(".") >= 2 and host.rstrip(".").split(".")[-2] in ("com", "co", "net", "org")
    if top in _GENERIC_COUNTRY_DOMAINS and not second_level:
        return None
    return _COUNTRY_CURRENCY.get(top)


def locale_currency(locale: str) -> str | None:
    """The currency of a locale's country (`de-AT`, `pt_BR`, `sv`); None for a language of many countries."""
    language, *parts = locale.strip().replace("_", "-").split("-")
    region = next((part for part in parts if len(part) == 2 and part.isalpha()), "")
    return _COUNTRY_CURRENCY.get(region.lower() or _LANGUAGE_COUNTRY.get(language.lower(), ""))
