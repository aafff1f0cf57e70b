"""Marks of a currency right before or after a number: signs, codes and words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pricewatch.parsing.prices.currency import NONE, SIGNS, WORDS, currency_code, settle

# Stand in a joined text where a piece of text or a whole block of the page ends and the next begins.
PIECE, BLOCK = "\ue000", "\ue001"

Codes = tuple[str, ...]

_BETWEEN = f" {PIECE}{BLOCK}"
_BEFORE = re.compile(rf"([^\s\d{PIECE}{BLOCK}]{{1,12}})$")
_AFTER = re.compile(rf"[{_BETWEEN}]*([^\s\d{PIECE}{BLOCK}]{{1,12}})")
_TRIMMED = "()[]*:;!,|\"'"
_LONGEST_SIGN = max(map(len, SIGNS))


def mark_before(text: str) -> tuple[Codes, str]:
    """The currencies of a mark right before a number, and the text before that mark."""
    match = _BEFORE.search(text.rstrip(_BETWEEN))
    if match is None:
        return (), text
    run = match.group(1)
    for length in range(min(len(run), _LONGEST_SIGN), 0, -1):
        codes = SIGNS.get(run[-length:].upper())
        if codes:
            return codes, text[: match.end(1) - length]
    codes = _word_codes(run)
    return codes, text[: match.start()] if codes else text


def mark_after(text: str) -> tuple[Codes, str]:
    """The currencies of a mark right after a number, and the text that follows it; `$ CAD` is one mark."""
    match = _AFTER.match(text)
    if match is None:
        return (), text
    run = match.group(1)
    for length in range(min(len(run), _LONGEST_SIGN), 0, -1):
        codes = SIGNS.get(run[:length].upper())
        if codes:
            rest = text[match.start(1) + length :]
            further, beyond = mark_after(rest) if len(codes) > 1 else ((), rest)
            return (further, beyond) if set(further) & set(codes) else (codes, rest)
    codes = _word_codes(run)
    return codes, text[match.end() :] if codes else text


def joined(before: Codes, after: Codes) -> Codes:
    """What two marks around one number agree on: `$12.99 USD` is in US dollars."""
    return tuple(code for code in before if code in after) or before or after


def believed(codes: Codes, currency: str | None, hints: Iterable[str]) -> Codes:
    """Without a hint, a mark that is also an ordinary word (`km`, `ft`) is that word."""
    return codes if NONE not in codes or currency in codes or settle(codes, hints) else ()


def _word_codes(run: str) -> Codes:
    word = run.strip(_TRIMMED).rstrip(".").strip(_TRIMMED)
    code = currency_code(word) if len(word) == 3 and word.isupper() else None
    return (code,) if code else WORDS.get(word.lower(), ())
