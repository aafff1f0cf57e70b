"""Forms that clients send to scrapyd's services: they are read after the login is checked."""

from __future__ import annotations

from io import BytesIO
from typing import Any, cast

from python_multipart import parse_form
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File
from twisted.web import http
from twisted.web.http import parse_qs
from twisted.web.server import Request

from pricewatch.web.auth import AuthResult, is_token_valid

MAX_FIELDS = 1_000
TOKEN = b"token"


class MalformedForm(Exception):
    pass


def check_form(request: Request, result: AuthResult) -> AuthResult:
    """Read the form into `request.args`; refuse one that is malformed, or of a browser without its token."""
    try:
        read_form(request)
    except MalformedForm as problem:
        return AuthResult(http.BAD_REQUEST, reason=str(problem))
    token = cast("dict[bytes, list[bytes]]", request.args).pop(TOKEN, [b""])[-1]
    if result.is_browser and not is_token_valid(result.session, token.decode("latin-1")):
        return AuthResult(
            http.FORBIDDEN, reason="This form has expired: reload the page and submit it again."
        )
    return result


def read_form(request: Any) -> None:
    kind = (request.requestHeaders.getRawHeaders(b"content-type") or [b""])[0]
    try:
        if kind.lower().startswith(b"application/x-www-form-urlencoded"):
            body = request.content.read()
            _check_count(body.count(b"&") + 1)
            request.args.update(parse_qs(body, 1))
        elif kind.lower().startswith(b"multipart/form-data"):
            request.args.update(_parts(kind, request.content))
        request.content.seek(0)
    except (FormParserError, ValueError) as error:
        # The file is closed when the client leaves.
        raise MalformedForm(f"The form cannot be read: {error}") from None


def _check_count(fields: int) -> None:
    if fields > MAX_FIELDS:
        raise MalformedForm(f"The form has more than {MAX_FIELDS} fields.")


def _parts(kind: bytes, content: BytesIO) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    count = 0

    def add(name: bytes | None, value: bytes) -> None:
        nonlocal count
        count += 1
        _check_count(count)
        if name:
            found.setdefault(name, []).append(value)

    def add_field(field: Field) -> None:
        add(field.field_name, field.value or b"")

    def add_file(file: File) -> None:
        with file.file_object as stored:
            stored.seek(0)
            add(file.field_name, stored.read())

    parse_form({"Content-Type": kind}, content, add_field, add_file)
    return found
