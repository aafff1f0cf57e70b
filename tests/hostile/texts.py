"""Hostile texts: markup, control characters, injection and encoding tricks."""

from __future__ import annotations

import re

from hypothesis import strategies as st

HOSTILE_TEXTS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</script><b>",
    "'; DROP TABLE listings; --",
    "\"quoted\" \\ and 'single'",
    "%s %(name)s {0} ${HOME} $(id)",
    "\x00NUL\x00",
    "\x1b[31mred\x1b[0m\x07",
    "\u202eevil\u202c \u2066isolated\u2069 \u200fmark",
    "👩‍👩‍👧‍👦 🚲 \U0001f1e6\U0001f1f9",
    "\ud800 half",
    "Z\u0351\u036b\u0343a\u030al\u0367go",
    "\u200b\ufeff\u2060",
    "=HYPERLINK(1)",
    "&lt;b&gt; &#0; &amp;amp;",
    "]]> <!-- -->",
    "line\r\nbreak\u2028and\u2029more\x85",
    "９９９ €",
    "a" * 5000,
]
# Forbidden in stored texts: these characters break a terminal, a log line or the reading order.
FORBIDDEN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def hostile_texts() -> st.SearchStrategy[str]:
    """Hostile texts mixed with random characters."""
    pieces = st.sampled_from(HOSTILE_TEXTS) | st.text(st.characters(), max_size=12)
    return st.lists(pieces, min_size=1, max_size=3).map(" ".join)
