"""JSON-LD with syntax errors that shops make."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricewatch.parsing.structured_data.jsonld import decode_jsonld, is_jsonld_type

PRODUCT = '{"@type": "Product", "name": "Kettle"}'
READ = {"@type": "Product", "name": "Kettle"}

# Real cases that broke a parser.
CAUGHT = [
    (
        "control characters",
        '{"@type": "Product", "name": "Ket\ttle\n"}',
        [{"@type": "Product", "name": "Ket\ttle\n"}],
    ),
    ("a control character outside", f"{PRODUCT}\x00\x1a", [READ]),
    ("a trailing semicolon", f"{PRODUCT};", [READ]),
    ("a line comment", f"// the product\n{PRODUCT}", [READ]),
    ("a comment inside", '{"@type": "Product", /* what */ "name": "Kettle" // that\n}', [READ]),
    ("an HTML comment around it", f"<!--\n{PRODUCT}\n-->", [READ]),
    ("CDATA around it", f"//<![CDATA[\n{PRODUCT}\n//]]>", [READ]),
    ("commented CDATA around it", f"/*<![CDATA[*/ {PRODUCT} /*]]>*/", [READ]),
    ("several objects", f"{PRODUCT}\n{PRODUCT}", [READ, READ]),
    ("several objects with commas", f"{PRODUCT},\n{PRODUCT}", [READ, READ]),
    ("trailing commas", '{"@type": "Product", "name": "Kettle",}', [READ]),
    ("escaped for HTML", PRODUCT.replace('"', "&quot;"), [READ]),
    (
        "a slash in a text",
        '{"url": "https://shop.com/a", "name": "a, ]b"};',
        [{"url": "https://shop.com/a", "name": "a, ]b"}],
    ),
]


@pytest.mark.parametrize(("text", "values"), [case[1:] for case in CAUGHT], ids=[case[0] for case in CAUGHT])
def test_json_with_syntax_errors_is_decoded(text, values):
    assert decode_jsonld(text) == values


@pytest.mark.parametrize(
    "text", ["", "   ", "undefined", "{", "{'a': 1}", '{"a": "un"quoted"}', "[" * 100_000, "1" * 5000]
)
def test_undecodable_text_gives_no_values(text):
    assert all(not isinstance(value, (dict, list)) or not value for value in decode_jsonld(text))


@pytest.mark.parametrize(
    ("script_type", "is_jsonld"),
    [
        ("application/ld+json", True),
        ("application/ld+json; charset=utf-8", True),
        ("APPLICATION/LD+JSON ", True),
        ("application/json", False),
        ("", False),
        (None, False),
    ],
)
def test_json_ld_scripts_are_recognized_by_type(script_type, is_jsonld):
    assert is_jsonld_type(script_type) is is_jsonld


@settings(deadline=None)
@given(st.text(alphabet='{}[]",:; /*\n<>!-]ab1\\', max_size=60))
def test_no_text_raises(text):
    decode_jsonld(text)
