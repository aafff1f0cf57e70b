"""Pages in broken, unusual or falsely declared encodings."""

from __future__ import annotations

from tests.hostile.corpus.hostile_page import HTML, PRICE, PRODUCT, Pages, document, kind, page

# Real encodings of pages, and names that a page may give although no page is encoded so.
ENCODINGS = (
    "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-7", "gb18030", "gbk", "big5", "shift_jis",
    "euc-jp", "iso-2022-jp", "euc-kr", "iso-2022-kr", "hz", "koi8-r", "windows-1251", "cp1252", "iso-8859-15",
    "cp037", "cp500", "utf-8-sig", "mac-roman", "iso-8859-8", "tis-620", "johab", "cp437", "utf_16_le",
)  # fmt: skip
NOT_FOR_PAGES = (
    "punycode", "idna", "hex", "undefined", "rot13", "zip", "bz2", "base64", "uu", "quopri", "unicode_escape",
    "raw_unicode_escape", "unicode_internal", "mbcs", "oem", "charmap", "utf-8-mac", "x-user-defined",
    "replacement", "none", "auto", "latin1;x", "utf8\x00", "../utf-8", "aliases", "a" * 5_000, "utf-8, latin1",
)  # fmt: skip
# Bytes that are incomplete or invalid in their encoding.
BROKEN = {
    "a cut UTF-8 character": ("utf-8", b"\xe2\x82"),
    "a cut four-byte character": ("utf-8", b"\xf0\x9f\x98"),
    "overlong UTF-8": ("utf-8", b"\xc0\xbc\xe0\x80\xbc"),
    "UTF-8 of a surrogate": ("utf-8", b"\xed\xa0\x80"),
    "UTF-8 beyond the last character": ("utf-8", b"\xf4\x90\x80\x80"),
    "continuation bytes": ("utf-8", b"\x80\xbf"),
    "bytes FE and FF": ("utf-8", b"\xfe\xff"),
    "a half surrogate": ("utf-16-le", b"\x00\xd8"),
    "a cut UTF-16 character": ("utf-16-le", b"\x00"),
    "a cut GB18030 character": ("gb18030", b"\x81\x30\x81"),
    "an ISO-2022-JP escape": ("iso-2022-jp", b"\x1b$B"),
    "an unknown escape": ("iso-2022-jp", b"\x1b$Z\x1b(Q"),
    "a cut Shift JIS character": ("shift_jis", b"\x81"),
    "a cut Big5 character": ("big5", b"\xa4"),
    "an unpaired HZ escape": ("hz", b"~{"),
    "UTF-7 in base64": ("utf-7", b"+ADw-script+AD4-"),
    "UTF-7 that never ends": ("utf-7", b"+AAAA"),
}


def encoded(encoding: str, text: str = "") -> bytes:
    return (text or document(PRODUCT)).encode(encoding, "replace")


def with_bytes(encoding: str, piece: bytes, number: int, *, at_end: bool) -> bytes:
    body = encoded(encoding)
    if at_end:
        return body + piece * number
    middle = len(body) // 2 & ~3
    return body[:middle] + piece * number + body[middle:]


def declared_twice(declared: str, real: str) -> bytes:
    return encoded(real, document(PRODUCT, f'<meta charset="{declared}">'))


def of_size(size: int) -> bytes:
    return document(PRODUCT + "<p>" + "word-" * (size // 5)).encode()


def html_in(encoding: str) -> dict[str, str]:
    return {"Content-Type": f"text/html; charset={encoding}"}


@kind("encodings")
def encodings() -> Pages:
    for encoding in ENCODINGS:
        yield page(f"{encoding} in the header", encoded, encoding, headers=html_in(encoding))
        yield page(f"{encoding} declared nowhere", encoded, encoding, headers={"Content-Type": "text/html"})
        yield page(
            f"{encoding} that is UTF-8",
            declared_twice,
            encoding,
            "utf-8",
            headers={"Content-Type": "text/html"},
        )
        yield page(f"UTF-8 that is {encoding}", declared_twice, "utf-8", encoding)


@kind("names of encodings")
def names_of_encodings() -> Pages:
    for name in NOT_FOR_PAGES:
        yield page(f"{name[:30]!r} in the header", of_size, 80_000, headers=html_in(name))
        yield page(
            f"{name[:30]!r} in a meta tag",
            declared_twice,
            name,
            "utf-8",
            headers={"Content-Type": "text/html"},
        )
    yield page("1 MB as punycode", of_size, 950_000, headers=html_in("punycode"))
    yield page(
        "5,000 meta tags",
        document,
        PRODUCT,
        '<meta charset="big5">' * 5_000,
        headers={"Content-Type": "text/html"},
    )


@kind("broken encodings")
def broken_encodings() -> Pages:
    for name, (encoding, piece) in BROKEN.items():
        for number in (1, 20_000):
            for at_end in (True, False):
                place = "at the end" if at_end else "in the middle"
                headers = html_in(encoding)
                # In the middle is the price tag: cut off there, it may show less.
                yield page(
                    f"{number} times {name} {place}",
                    _broken,
                    encoding,
                    piece,
                    number,
                    at_end,
                    headers=headers,
                )


def _broken(encoding: str, piece: bytes, number: int, at_end: bool) -> bytes:
    return with_bytes(encoding, piece, number, at_end=at_end)


@kind("byte order marks")
def byte_order_marks() -> Pages:
    marks = {
        "UTF-8": b"\xef\xbb\xbf",
        "UTF-16": b"\xff\xfe",
        "UTF-16 BE": b"\xfe\xff",
        "UTF-32": b"\xff\xfe\0\0",
        "UTF-7": b"+/v8",
    }
    for name, mark in marks.items():
        for encoding in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le"):
            for headers in (HTML, {"Content-Type": "text/html"}, {}):
                called = headers.get("Content-Type", "no type")
                yield page(
                    f"{name} before {encoding}, {called}",
                    marked,
                    mark,
                    encoding,
                    headers=headers,
                    shows=PRICE,
                )


def marked(mark: bytes, encoding: str) -> bytes:
    return mark + encoded(encoding)
