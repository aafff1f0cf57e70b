"""What all endpoints share: how numbers and words may look, pages of results, who may change something."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from fastapi import Depends, HTTPException, Path, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from pricewatch.money import ISO_4217
from pricewatch.web.auth import AuthResult, is_token_right
from pricewatch.web.request_context import RequestContext

T = TypeVar("T")
MOST = 200


def _known_currency(code: str) -> str:
    if code not in ISO_4217:
        raise ValueError(f"{code!r} is not a currency code such as EUR")
    return code


Limit = Annotated[int, Query(ge=1, le=MOST)]
# The database takes no NUL in a text.
Word = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Sentence = Annotated[str, StringConstraints(max_length=2_000, pattern=r"^[^\x00]*$")]
# Amounts in JSON are whole numbers of minor units; without a currency they mean nothing.
Currency = Annotated[str, StringConstraints(pattern="^[A-Z]{3}$"), AfterValidator(_known_currency)]
Name = Annotated[str, Path(min_length=1, max_length=100, pattern=r"^[^\x00/]*$")]


class ResponseModel(BaseModel):
    """Made from a row of the database; what it does not name is left out."""

    model_config = ConfigDict(extra="ignore", from_attributes=True)


class Page(BaseModel, Generic[T]):
    """`next` is null on the last page."""

    items: list[T]
    next: int | None = None


def page_of(rows: list[dict[str, object]], limit: int, key: str = "id") -> dict[str, object]:
    """Of one row more than was asked for: what is shown, and where the next page begins."""
    following = rows[limit - 1][key] if len(rows) > limit else None
    return {"items": rows[:limit], "next": following}


def changing(request: Request) -> RequestContext:
    """A program needs its password, a browser the token of our own pages as well."""
    passage: AuthResult = request.scope["state"]["passage"]
    if passage.is_browser and not is_token_right(passage.session, request.headers.get("x-csrf-token", "")):
        raise HTTPException(403, "From a browser, send the page's token as X-CSRF-Token.")
    return RequestContext(request)


AChange = Annotated[RequestContext, Depends(changing)]
