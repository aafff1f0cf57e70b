"""Currencies: which code a mark on a page stands for, and how many minor units a code has.

A mark that several currencies share names none of them by itself: the page, its domain or its language
must add what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable

ISO_4217 = frozenset(
    (
        "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD "
        "CDF CHF CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF "
        "GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP "
        "LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB "
        "PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL "
        "THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR "
        "ZMW ZWG"
    ).split()
)

_MINOR_UNITS = dict.fromkeys(
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF".split(), 0
) | dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3)

# Codes that are out of date or common misspellings of one.
_OTHER_CODES = {
    "RUR": "RUB",
    "RMB": "CNY",
    "NIS": "ILS",
    "NTD": "TWD",
    "BYR": "BYN",
    "EURO": "EUR",
    "TRL": "TRY",
}

# Stands beside the code of a mark that is also an ordinary word: it then needs a hint to count at all.
NONE = "XXX"

_DOLLARS = (
    "USD",
    "CAD",
    "AUD",
    "NZD",
    "SGD",
    "HKD",
    "TWD",
    "MXN",
    "ARS",
    "CLP",
    "COP",
    "UYU",
    "BRL",
    "NAD",
    "JMD",
)
_RUPEES = ("INR", "PKR", "LKR", "NPR", "MUR", "SCR")

# Signs, which count wherever they touch a number.
SIGNS: dict[str, tuple[str, ...]] = {
    "€": ("EUR",), "£": ("GBP",), "$": _DOLLARS, "¥": ("JPY", "CNY"), "￥": ("JPY", "CNY"), "₽": ("RUB",),
    "₹": ("INR",), "₨": _RUPEES, "₩": ("KRW",), "￦": ("KRW",), "₺": ("TRY",), "₴": ("UAH",), "₪": ("ILS",),
    "₫": ("VND",), "฿": ("THB",), "₱": ("PHP",), "₦": ("NGN",), "₡": ("CRC",), "₲": ("PYG",), "₸": ("KZT",),
    "₼": ("AZN",), "₾": ("GEL",), "₮": ("MNT",), "₭": ("LAK",), "៛": ("KHR",), "₵": ("GHS",), "৳": ("BDT",),
    "֏": ("AMD",), "円": ("JPY",), "원": ("KRW",), "元": ("CNY", "TWD", "HKD"), "圓": ("TWD", "HKD"),
    "US$": ("USD",), "U$S": ("USD",), "USD$": ("USD",), "CA$": ("CAD",), "C$": ("CAD", "NIO"), "AU$": ("AUD",),
    "A$": ("AUD",), "NZ$": ("NZD",), "HK$": ("HKD",), "NT$": ("TWD",), "SG$": ("SGD",), "S$": ("SGD",),
    "MX$": ("MXN",), "R$": ("BRL",), "AR$": ("ARS",), "CLP$": ("CLP",), "COP$": ("COP",), "RD$": ("DOP",),
    "J$": ("JMD",), "TT$": ("TTD",), "CN¥": ("CNY",), "JP¥": ("JPY",), "S/": ("PEN",), "S/.": ("PEN",),
}  # fmt: skip

# Words, which count only where they stand alone beside a number.
WORDS: dict[str, tuple[str, ...]] = {
    "euro": ("EUR",), "euros": ("EUR",), "eur": ("EUR",), "zł": ("PLN",), "zl": ("PLN", NONE), "kč": ("CZK",),
    "kc": ("CZK", NONE), "ft": ("HUF", NONE), "lei": ("RON", "MDL"), "leu": ("RON", "MDL"), "лв": ("BGN",), "lv": ("BGN", NONE),
    "kr": ("SEK", "NOK", "DKK", "ISK"), "rs": _RUPEES, "rs.": _RUPEES, "rp": ("IDR", NONE),
    "rm": ("MYR", NONE), "руб": ("RUB",), "р": ("RUB", "BYN"), "рублей": ("RUB",), "грн": ("UAH",), "тг": ("KZT",),
    "тнг": ("KZT",), "тенге": ("KZT",), "сум": ("UZS",), "so'm": ("UZS",), "сом": ("KGS",), "дин": ("RSD",),
    "din": ("RSD", NONE), "рсд": ("RSD",), "ден": ("MKD",), "den": ("MKD", NONE), "km": ("BAM", NONE), "tl": ("TRY", NONE),
    "sfr": ("CHF",), "fr": ("CHF", NONE), "r": ("ZAR", NONE), "ksh": ("KES",), "dh": ("MAD", "AED"), "dhs": ("AED", "MAD"),
    "درهم": ("AED", "MAD"), "ريال": ("SAR", "QAR", "OMR", "YER"), "ر.س": ("SAR",), "د.إ": ("AED",),
    "ج.م": ("EGP",), "جنيه": ("EGP",), "د.ك": ("KWD",), "บาท": ("THB",), "đ": ("VND",), "vnđ": ("VND",),
    "dollars": _DOLLARS, "pesos": ("MXN", "ARS", "CLP", "COP", "UYU", "PHP", "DOP"), "gs": ("PYG", NONE),
    "kr.": ("SEK", "NOK", "DKK", "ISK"), "ман": ("AZN",), "man": ("AZN", NONE),
}  # fmt: skip

_COUNTRY_CURRENCY = {
    **dict.fromkeys("at be bg cy de ee es fi fr gr hr ie it lt lu lv mc me mt nl pt si sk sm va xk".split(), "EUR"),
    "uk": "GBP", "gb": "GBP", "us": "USD", "ca": "CAD", "au": "AUD", "nz": "NZD", "sg": "SGD", "hk": "HKD",
    "tw": "TWD", "mx": "MXN", "ar": "ARS", "cl": "CLP", "co": "COP", "uy": "UYU", "br": "BRL", "pe": "PEN",
    "jp": "JPY", "cn": "CNY", "kr": "KRW", "in": "INR", "pk": "PKR", "lk": "LKR", "np": "NPR", "se": "SEK",
    "no": "NOK", "dk": "DKK", "is": "ISK", "ch": "CHF", "li": "CHF", "pl": "PLN", "cz": "CZK", "hu": "HUF",
    "ro": "RON", "md": "MDL", "ru": "RUB", "by": "BYN", "ua": "UAH", "kz": "KZT", "uz": "UZS", "kg": "KGS",
    "rs": "RSD", "mk": "MKD", "ba": "BAM", "tr": "TRY", "il": "ILS", "ae": "AED", "sa": "SAR", "qa": "QAR",
    "om": "OMR", "kw": "KWD", "bh": "BHD", "eg": "EGP", "ma": "MAD", "tn": "TND", "za": "ZAR", "ke": "KES",
    "ng": "NGN", "gh": "GHS", "th": "THB", "vn": "VND", "my": "MYR", "id": "IDR", "ph": "PHP", "bd": "BDT",
    "py": "PYG", "do": "DOP", "jm": "JMD", "na": "NAD", "mu": "MUR", "az": "AZN", "ge": "GEL", "am": "AMD",
}  # fmt: skip

# Languages that are written in one country's shops, or nearly so.
_LANGUAGE_COUNTRY = {
    "hu": "hu", "cs": "cz", "pl": "pl", "ro": "ro", "da": "dk", "sv": "se", "nb": "no", "nn": "no", "no": "no", "uk": "ua",
    "ja": "jp", "ko": "kr", "th": "th", "vi": "vn", "he": "il", "tr": "tr", "is": "is", "id": "id", "kk": "kz", "sk": "sk",
    "sl": "si", "fi": "fi", "et": "ee", "lv": "lv", "lt": "lt", "el": "gr", "it": "it", "sr": "rs", "mk": "mk", "ka": "ge",
}  # fmt: skip

# Country domains that shops anywhere use for their sound: they say nothing about money.
_COUNTRYLESS = frozenset("co me io tv ai cc ly la to fm am gg sh ws is".split())


def minor_units(code: str) -> int:
    """How many decimals the currency has: 2 for most, 0 for the yen, 3 for the Kuwaiti dinar."""
    return _MINOR_UNITS.get(code, 2)


def currency_code(text: str | None) -> str | None:
    """The ISO 4217 code that a field for a currency holds, or None; also its sign where that is unambiguous."""
    if not text:
        return None
    bare = text.strip().rstrip(".").upper()
    code = _OTHER_CODES.get(bare, bare)
    if code in ISO_4217:
        return code
    codes = SIGNS.get(text.strip()) or WORDS.get(bare.lower()) or ()
    return codes[0] if len(codes) == 1 and codes[0] in ISO_4217 else None


def settle(codes: tuple[str, ...], hints: Iterable[str]) -> str | None:
    """The one currency that a mark stands for, given the currencies that the page hints at, best hint first."""
    if len(codes) == 1:
        return codes[0] if codes[0] in ISO_4217 else None
    return next((hint for hint in hints if hint in codes), None)


def country_currency(country: str) -> str | None:
    return _COUNTRY_CURRENCY.get(country.lower())


def domain_currency(host: str) -> str | None:
    """The currency of a country domain; None for generic ones and for those used for their sound."""
    top = host.rstrip(".").rpartition(".")[2].lower()
    second_level = host.count(".") >= 2 and host.rstrip(".").split(".")[-2] in ("com", "co", "net", "org")
    if top in _COUNTRYLESS and not second_level:
        return None
    return _COUNTRY_CURRENCY.get(top)


def locale_currency(locale: str) -> str | None:
    """The currency of a locale's country (`de-AT`, `pt_BR`, `sv`); None for a language of many countries."""
    language, *parts = locale.strip().replace("_", "-").split("-")
    region = next((part for part in parts if len(part) == 2 and part.isalpha()), "")
    return _COUNTRY_CURRENCY.get(region.lower() or _LANGUAGE_COUNTRY.get(language.lower(), ""))
