"""Currency marks right before or after a number: signs, codes and words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pricewatch.parsing.prices.currency import ORDINARY_WORD, SIGNS, WORDS, currency_code, resolve_currency

# Separators in a joined text, between pieces of text and between block elements.
PIECE_BREAK, BLOCK_BREAK = "\ue000", "\ue001"

Codes = tuple[str, ...]

_SEPARATORS = f" {PIECE_BREAK}{BLOCK_BREAK}"
_BEFORE = re.compile(rf"([^\s\d{PIECE_BREAK}{BLOCK_BREAK}]{{1,12}})$")
_AFTER = re.compile(rf"[{_SEPARATORS}]*([^\s\d{PIECE_BREAK}{BLOCK_BREAK}]{{1,12}})")
_COUNTRY = re.compile(r"(?<![A-Za-z])(US|CA|AU|NZ|HK|NT|SG|MX|AR)\s$")
_SIGN = re.compile(r"[$€£¥￥₽₹₨₩₺₴₪₫฿₱₦₡₲₸₼₾₮₭៛₵৳֏円원元圓幣币镑鎊金ლரර﷼\u20c1]")
# Words of other scripts than the Latin one have no capitals, or are written without them.
_FOREIGN_WORDS = [
    word for word in WORDS if len(word) > 1 and not word.isascii() and ORDINARY_WORD not in WORDS[word]
]
_WORD = re.compile(
    r"\b(?:[A-Z]{3}|[Zz]ł|K[čc]|F[Tt]|[Ll]ei|[Kk]r|R[sSpM]|[Рр]уб|[Гг]рн|[Тт][гГ]|[Лл]в|TL|[Ee]uros?|р|KSh|"
    rf"S/\.?|{'|'.join(map(re.escape, _FOREIGN_WORDS))})(?![^\W\d_])"
)
_PUNCTUATION = "()[]*:;!,|\"'"
_MAX_SIGN_LENGTH = max(map(len, SIGNS))
_MAX_MARK_PARTS = 3


def has_currency_mark(text: str) -> bool:
    """Whether a text seems to contain a currency mark; a fast check without positions."""
    return _SIGN.search(text) is not None or _WORD.search(text) is not None


def mark_before(text: str) -> tuple[Codes, str]:
    """The codes of the mark right before a number, and the text before the mark."""
    match = _BEFORE.search(text.rstrip(_SEPARATORS))
    if match is None:
        return (), text
    run = match.group(1)
    for length in range(min(len(run), _MAX_SIGN_LENGTH), 0, -1):
        codes = SIGNS.get(run[-length:].upper())
        if codes:
            rest = text[: match.end(1) - length]
            # "US $12" has a space in its mark.
            country = _COUNTRY.search(rest) if len(codes) > 1 else None
            joined = SIGNS.get(country[1] + run[-length:]) if country else None
            return (joined, rest[: country.start()]) if joined and country else (codes, rest)
    codes = _word_codes(run)
    return codes, text[: match.start()] if codes else text


def mark_after(text: str, parts: int = _MAX_MARK_PARTS) -> tuple[Codes, str]:
    """The codes of the mark right after a number, and the text after the mark; `$ CAD` is one mark."""
    match = _AFTER.match(text)
    if match is None:
        return (), text
    run = match.group(1)
    for length in range(min(len(run), _MAX_SIGN_LENGTH), 0, -1):
        codes = SIGNS.get(run[:length].upper())
        if codes:
            rest = text[match.start(1) + length :]
            more_codes, more_rest = mark_after(rest, parts - 1) if len(codes) > 1 < parts else ((), rest)
            return (more_codes, more_rest) if set(more_codes) & set(codes) else (codes, rest)
    codes = _word_codes(run)
    return codes, text[match.end() :] if codes else text


def combine_codes(before: Codes, after: Codes) -> Codes:
    """The codes that the marks on both sides of a number share: `$12.99 USD` is in US dollars."""
    return tuple(code for code in before if code in after) or before or after


def recognised_codes(codes: Codes, currency: str | None, hints: Iterable[str]) -> Codes:
    """The codes of a mark; none if it is also an ordinary word (`km`, `ft`) and no hint matches."""
    return codes if ORDINARY_WORD not in codes or currency in codes or resolve_currency(codes, hints) else ()


def _word_codes(run: str) -> Codes:
    word = run.strip(_PUNCTUATION).rstrip(".").strip(_PUNCTUATION)
    code = currency_code(word) if len(word) == 3 and word.isupper() else None
    return (code,) if code else WORDS.get(word.lower(), ())
