"""Hostile HTTP requests, as bytes on the wire, and the checks that every response must pass."""

from __future__ import annotations

import json
import re
import socket
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPResponse
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st
from parsel import Selector

from tests.hostile.texts import HOSTILE_TEXTS, hostile_texts

TIMEOUT = 30
ODD_NUMBERS = [
    *("-1", "0", "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775809"),
    *(str(10**30), "1e999", "NaN", "-Infinity", "0x10", "1_000", "١٢", "²", "1.5", "9" * 5000, "", " "),
]
ODD_DATES = ["2026-13-45", "0000-00-00T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]
ODD_WORDS = [
    *("null", "true", "[]", "{}", "../../etc/passwd", "javascript:alert(1)", '"><x-enemy onclick=a>'),
    # A lone surrogate and a NUL, for code that decodes twice.
    *("\\ud800\\x00", "+2AA-", "%00%ED%A0%80"),
]
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "-origin",
    "Permissions-Policy": "camera=()",
    "Cache-Control": "",
}
DEEP = 50_000
# Twisted closes the connection on lines over 16 KB; a percent-encoded character has up to 12 bytes.
MAX_IN_LINE = 300
ODD_BODIES = [
    *(b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe{}", b"\x00", b'{"a": NaN}', b"\x1f\x8b\x08bomb"),
    *(b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP, b'{"a":' + b"9" * 5000 + b"}"),
    b'{"\\ud800": 1, "\\u0000": 2}',
]
CONTENT_TYPES = [
    *("application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""),
    *("multipart/form-data; boundary=x", "application/json; charset=utf-16", "application/xml", "²/\x7f"),
]
# Attributes with a URL, and the URL schemes that run code.
_URL_ATTRIBUTES = ("href", "src", "action", "formaction", "data")
_SCRIPT_URL = re.compile(r"\s*(javascript|data|vbscript):", re.IGNORECASE)
_EXCEPTION = re.compile(r"^\w+(Error|Exception|Warning): |Traceback")


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Message
    body: bytes

    @property
    def kind(self) -> str:
        return str(self.headers.get_content_type())

    def json(self) -> Any:
        return json.loads(self.body)


def odd_texts() -> st.SearchStrategy[str]:
    return st.sampled_from([*HOSTILE_TEXTS, *ODD_NUMBERS, *ODD_DATES, *ODD_WORDS]) | hostile_texts()


def odd_values() -> st.SearchStrategy[Any]:
    """Any JSON value, and some that JSON cannot express."""
    numbers = st.integers(-(10**30), 10**30) | st.sampled_from([2**63, -(2**63) - 1, 10**400])
    scalars = st.none() | st.booleans() | numbers | st.floats() | odd_texts()
    return scalars | st.lists(scalars, max_size=3) | st.dictionaries(odd_texts(), scalars, max_size=3)


def as_path(text: str) -> str:
    return quote(text[:MAX_IN_LINE], safe="", errors="surrogatepass") or "%20"


def as_query(pairs: list[tuple[str, str]]) -> str:
    return as_form([(name, text[:MAX_IN_LINE]) for name, text in pairs]).decode()


def as_form(pairs: list[tuple[str, str]]) -> bytes:
    encoded = [(quote(name, errors="surrogatepass"), quote(v, errors="surrogatepass")) for name, v in pairs]
    return "&".join(f"{name}={value}" for name, value in encoded).encode()


def as_parts(pairs: list[tuple[str, str]], charset: str) -> bytes:
    """A multipart form, as browsers send with files; `charset` is the declared encoding of each part."""
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{as_path(name)}"\r\n'
        f"Content-Type: text/plain; charset={charset}\r\n\r\n{value}\r\n"
        for name, value in pairs
    ]
    return ("".join(parts) + "--x--\r\n").encode("utf-8", "surrogatepass")


def send(port: int, method: str, target: str, body: bytes = b"", /, **headers: str | None) -> Answer:
    """Send raw bytes, so that no client library corrects them; fails if no response comes in time.

    A header that is None is left out.
    """
    sent = {"Host": "127.0.0.1", "Connection": "close", "Content-Length": str(len(body)), **headers}
    lines = [f"{method} {target} HTTP/1.1", *header_lines(sent)]
    try:
        with socket.create_connection(("127.0.0.1", port), TIMEOUT) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
            with HTTPResponse(connection, method=method) as response:
                response.begin()
                return Answer(response.status, response.headers, response.read())
    except OSError as error:
        raise AssertionError(f"no response to {lines} {body[:300]!r}") from error


def header_lines(headers: dict[str, str | None]) -> list[str]:
    return [f"{name.replace('_', '-')}: {value}" for name, value in headers.items() if value is not None]


def check(answer: Answer, request: object) -> None:
    """Check that there is no 5xx, that errors have a readable reason, and that no HTML was injected."""
    assert answer.status < 500, (answer.status, answer.body[:500], request)
    check_headers(answer, request)
    if answer.kind == "text/html":
        check_page(answer.body, request)
    elif answer.status >= 400 and answer.kind == "application/problem+json":
        problem = answer.json()
        assert problem["status"] == answer.status
        assert len(problem.get("detail") or problem["title"]) > 5, request
    elif answer.kind == "application/json":
        check_service_response(answer.json(), request)


def check_headers(answer: Answer, request: object) -> None:
    """Check the security headers, which the pages of scrapyd have as well."""
    policy = answer.headers.get("Content-Security-Policy", "")
    assert "default-src 'none'" in policy, (answer, request)
    assert "frame-ancestors 'none'" in policy, request
    assert "unsafe" not in policy, request
    for name, value in SECURITY_HEADERS.items():
        assert value in answer.headers.get(name, ""), (name, answer, request)
    assert not [name for name in answer.headers if name.startswith("Access-Control-")], request
    assert "Server" not in answer.headers, request
    if answer.status < 300 and not answer.headers["Cache-Control"].startswith("public"):
        assert answer.headers["Cache-Control"] == "no-store", request


def check_service_response(response: Any, request: object) -> None:
    """Check that an error of scrapyd's API has a readable message, not the name of an exception."""
    if isinstance(response, dict) and response.get("status") == "error":
        assert len(response["message"]) > 5, request
        assert not _EXCEPTION.search(response["message"]), (response, request)


def check_page(page: bytes, request: object) -> None:
    for element in Selector(body=page or b"<p>").xpath("//*"):
        tag, attributes = element.root.tag, element.attrib
        assert tag != "x-enemy", request
        assert tag != "script" or attributes.get("src", "").startswith("/static/"), request
        assert not [name for name in attributes if name.startswith("on")], request
        assert not [name for name in _URL_ATTRIBUTES if _SCRIPT_URL.match(attributes.get(name, ""))], request
