"""Shared by all endpoints: parameter types, pages of results, and the CSRF check."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from fastapi import Depends, HTTPException, Path, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from pricewatch.money import ISO_4217
from pricewatch.web.auth import AuthResult, is_token_valid
from pricewatch.web.request_context import RequestContext

T = TypeVar("T")
MAX_LIMIT = 200


def _known_currency(code: str) -> str:
    if code not in ISO_4217:
        raise ValueError(f"{code!r} is not a currency code. Example: EUR")
    return code


Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT)]
# PostgreSQL cannot store NUL characters in text.
ShortText = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
LongText = Annotated[str, StringConstraints(max_length=2_000, pattern=r"^[^\x00]*$")]
# Amounts in JSON are whole numbers of minor units, so each needs a currency.
Currency = Annotated[str, StringConstraints(pattern="^[A-Z]{3}$"), AfterValidator(_known_currency)]
Name = Annotated[str, Path(min_length=1, max_length=100, pattern=r"^[^\x00/]*$")]


class ResponseModel(BaseModel):
    """Built from a database row; columns without a field are left out."""

    model_config = ConfigDict(extra="ignore", from_attributes=True)


class Page(BaseModel, Generic[T]):
    """`next` is null on the last page."""

    items: list[T]
    next: int | None = None


def page_of(rows: list[dict[str, object]], limit: int, key: str = "id") -> dict[str, object]:
    """One page out of `limit` + 1 rows; the extra row only shows that there is a next page."""
    following = rows[limit - 1][key] if len(rows) > limit else None
    return {"items": rows[:limit], "next": following}


def change_context(request: Request) -> RequestContext:
    """The context of a request that changes something; from a browser it needs the CSRF token."""
    result: AuthResult = request.scope["state"]["auth_result"]
    if result.is_browser and not is_token_valid(result.session, request.headers.get("x-csrf-token", "")):
        raise HTTPException(403, "Requests from a browser need the page's token in the X-CSRF-Token header.")
    return RequestContext(request)


ChangeContext = Annotated[RequestContext, Depends(change_context)]
