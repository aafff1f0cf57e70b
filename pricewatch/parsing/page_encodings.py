"""The encodings that a page may name: those of the Encoding Standard (https://encoding.spec.whatwg.org).

Python has more codecs, some of which take quadratic time (`punycode`), raise errors (`idna`, `undefined`) or
are not encodings of text (`hex`). A page that names one of these is read as if it named none.
"""

from __future__ import annotations

import w3lib.encoding
from scrapy.http.response import text as scrapy_text

_PYTHON_CODECS = frozenset(
    {
        "utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp866", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic",
        "cp874", "gb18030", "big5hkscs", "euc_jp", "iso2022_jp", "cp932", "cp949",
        *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
        *(f"cp125{page}" for page in range(9)),
    }
)  # fmt: skip
# Names of the standard that Python does not know.
_OTHER_NAMES = {
    "dos-874": "cp874", "iso885911": "cp874", "iso885915": "iso8859-15", "iso-8859-8-i": "iso8859-8",
    "csiso88598i": "iso8859-8", "logical": "iso8859-8", "visual": "iso8859-8", "csiso88596e": "iso8859-6",
    "csiso88596i": "iso8859-6", "iso-8859-6-e": "iso8859-6", "iso-8859-6-i": "iso8859-6",
    "iso-8859-8-e": "iso8859-8", "csiso88598e": "iso8859-8", "sun_eu_greek": "iso8859-7",
    "csiso885913": "iso8859-13", "csisolatin9": "iso8859-15", "koi": "koi8-r", "koi8": "koi8-r",
    "koi8-ru": "koi8-u", "csmacintosh": "mac-roman", "mac": "mac-roman", "x-mac-roman": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic", "x-mac-ukrainian": "mac-cyrillic", "x-gbk": "gb18030",
    "cn-big5": "big5hkscs", "x-x-big5": "big5hkscs", "cseucpkdfmtjapanese": "euc_jp", "x-euc-jp": "euc_jp",
    "windows-949": "cp949", "unicode-1-1-utf-8": "utf-8", "unicode11utf8": "utf-8",
    "unicode20utf8": "utf-8", "x-unicode20utf8": "utf-8", "unicodefffe": "utf-16-be",
    "unicodefeff": "utf-16-le", "unicode": "utf-16-le", "csunicode": "utf-16-le", "ucs-2": "utf-16-le",
    "iso-10646-ucs-2": "utf-16-le", "csgb2312": "gb18030", "gb_2312": "gb18030",
    "cseuckr": "cp949", "csksc56011987": "cp949", "iso-ir-149": "cp949", "ks_c_5601-1989": "cp949",
    "ksc_5601": "cp949", "iso88591": "cp1252", "iso88599": "cp1254",
    **{f"iso8859{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14)},
    **{f"x-cp125{page}": f"cp125{page}" for page in range(9)},
}  # fmt: skip
_resolve = w3lib.encoding.resolve_encoding


def codec_of(name: str) -> str | None:
    """The Python codec of an encoding that a header or page names; None for all that are not standard."""
    codec = _resolve(name) or _OTHER_NAMES.get(name.strip().lower())
    return codec if codec in _PYTHON_CODECS else None


def use_standard_encodings() -> None:
    """Resolve names by `codec_of` in all responses, also in those that the browser renders."""
    w3lib.encoding.resolve_encoding = codec_of  # type: ignore[assignment]
    scrapy_text.resolve_encoding = codec_of  # type: ignore[assignment,attr-defined]
