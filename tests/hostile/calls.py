"""Calls that somebody made to break a server, as bytes on the wire, and what every answer must be like."""

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

from tests.hostile.texts import NASTY, nasty

PATIENCE = 30
ODD_NUMBERS = [
    *("-1", "0", "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775809"),
    *(str(10**30), "1e999", "NaN", "-Infinity", "0x10", "1_000", "١٢", "²", "1.5", "9" * 5000, "", " "),
]
ODD_DATES = ["2026-13-45", "0000-00-00T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]
ODD_WORDS = [
    *("null", "true", "[]", "{}", "../../etc/passwd", "javascript:alert(1)", '"><x-enemy onclick=a>'),
    # Half a character and a NUL, for those who unpack it once more.
    *("\\ud800\\x00", "+2AA-", "%00%ED%A0%80"),
]
DEEP = 50_000
# Twisted hangs up on longer lines than 16 KB; as bytes of UTF-8 a character is up to twelve of them.
LONGEST_IN_LINE = 300
ODD_BODIES = [
    *(b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe{}", b"\x00", b'{"a": NaN}', b"\x1f\x8b\x08bomb"),
    *(b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP, b'{"a":' + b"9" * 5000 + b"}"),
    b'{"\\ud800": 1, "\\u0000": 2}',
]
CONTENT_TYPES = [
    *("application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""),
    *("multipart/form-data; boundary=x", "application/json; charset=utf-16", "application/xml", "²/\x7f"),
]
# Where a page leads somebody's browser, and what would run there.
_LED = ("href", "src", "action", "formaction", "data")
_RUNS = re.compile(r"\s*(javascript|data|vbscript):", re.IGNORECASE)
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


def words() -> st.SearchStrategy[str]:
    return st.sampled_from([*NASTY, *ODD_NUMBERS, *ODD_DATES, *ODD_WORDS]) | nasty()


def values() -> st.SearchStrategy[Any]:
    """Anything that JSON can say, and some that it cannot."""
    numbers = st.integers(-(10**30), 10**30) | st.sampled_from([2**63, -(2**63) - 1, 10**400])
    plain = st.none() | st.booleans() | numbers | st.floats() | words()
    return plain | st.lists(plain, max_size=3) | st.dictionaries(words(), plain, max_size=3)


def as_path(text: str) -> str:
    return quote(text[:LONGEST_IN_LINE], safe="", errors="surrogatepass") or "%20"


def as_query(pairs: list[tuple[str, str]]) -> str:
    return as_form([(name, text[:LONGEST_IN_LINE]) for name, text in pairs]).decode()


def as_form(pairs: list[tuple[str, str]]) -> bytes:
    encoded = [(quote(one, errors="surrogatepass"), quote(two, errors="surrogatepass")) for one, two in pairs]
    return "&".join(f"{one}={two}" for one, two in encoded).encode()


def as_parts(pairs: list[tuple[str, str]], charset: str) -> bytes:
    """The same as a browser sends it together with files; `charset` is what each part says of itself."""
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{as_path(name)}"\r\n'
        f"Content-Type: text/plain; charset={charset}\r\n\r\n{value}\r\n"
        for name, value in pairs
    ]
    return ("".join(parts) + "--x--\r\n").encode("utf-8", "surrogatepass")


def send(port: int, method: str, target: str, body: bytes = b"", /, **headers: str) -> Answer:
    """Nothing in between that would mend or refuse it; fails where no answer comes in time."""
    given = {"Host": "127.0.0.1", "Connection": "close", "Content-Length": str(len(body)), **headers}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name.replace('_', '-')}: {v}" for name, v in given.items())]
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
            with HTTPResponse(connection, method=method) as response:
                response.begin()
                return Answer(response.status, response.headers, response.read())
    except OSError as error:
        raise AssertionError(f"no answer to {lines} {body[:300]!r}") from error


def check(answer: Answer, told: object) -> None:
    """Never a 5xx, a reason that a person understands, and nothing that a browser would run."""
    assert answer.status < 500, (answer.status, answer.body[:500], told)
    if answer.kind == "text/html":
        check_page(answer.body, told)
    elif answer.status >= 400 and answer.kind == "application/problem+json":
        problem = answer.json()
        assert problem["status"] == answer.status
        assert len(problem.get("detail") or problem["title"]) > 5, told
    elif answer.kind == "application/json":
        check_said(answer.json(), told)


def check_said(said: Any, told: object) -> None:
    """scrapyd says in the answer what is wrong: in a sentence, not by the name of an exception."""
    if isinstance(said, dict) and said.get("status") == "error":
        assert len(said["message"]) > 5, told
        assert not _EXCEPTION.search(said["message"]), (said, told)


def check_page(page: bytes, told: object) -> None:
    for element in Selector(body=page or b"<p>").xpath("//*"):
        tag, attributes = element.root.tag, element.attrib
        assert tag != "x-enemy", told
        assert tag != "script" or attributes.get("src", "").startswith("/static/"), told
        assert not [name for name in attributes if name.startswith("on")], told
        assert not [name for name in _LED if _RUNS.match(attributes.get(name, ""))], told
