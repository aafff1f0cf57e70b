"""Spider arguments: typed and validated in one place, with readable error messages."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pricewatch.errors import UserError
from pricewatch.store.models.run_tables import TRIGGERS

A = TypeVar("A", bound="Arguments")
# More than any site has, and within the range of the database's integers.
MOST = 1_000_000_000


class Arguments(BaseModel):
    """The arguments of every spider."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    trigger: str = Field("MANUAL", pattern=f"^({'|'.join(TRIGGERS)})$", description="what started this run")
    job: str | None = Field(None, alias="_job", description="scrapyd's id of the job")


class MarketArguments(Arguments):
    market: str = Field(min_length=1, description="the market to crawl, by its id")
    max_pages: int | None = Field(
        None, ge=1, le=MOST, description="read at most this many pages of each start page"
    )
    max_details: int | None = Field(None, ge=0, le=MOST, description="fetch at most this many product pages")


class TargetsArguments(Arguments):
    """Which targets to check; without arguments, those that are due or queued."""

    source: str | None = Field(None, description="only targets of this source, by its id or domain")
    ids: str | None = Field(
        None, pattern=r"^\d{1,18}( *, *\d{1,18})*$", description="these targets now, by number: 1,2,3"
    )
    url: str | None = Field(None, min_length=1, max_length=2000, description="this one page now")
    store: Literal["yes", "no"] | None = Field(
        None, description="with url: yes adds the page as a target, no only checks it"
    )
    adapter: str | None = Field(None, description="with url: read the page with this adapter")
    selectors: str | None = Field(
        None, description='with url: try selectors, as JSON such as {"price": ".amount"}'
    )
    max_targets: int | None = Field(None, ge=1, le=MOST, description="fetch no more than this many")

    @model_validator(mode="after")
    def _one_choice(self) -> TargetsArguments:
        if sum(value is not None for value in (self.source, self.ids, self.url)) > 1:
            raise ValueError("give only one of source, ids and url")
        if self.url is None and any((self.store, self.adapter, self.selectors)):
            raise ValueError("store, adapter and selectors need url")
        if self.store == "yes" and (self.adapter or self.selectors):
            raise ValueError("store=yes does not accept adapter or selectors; use `scrapy targets add`")
        return self


def parse_arguments(model: type[A], spider: str, arguments: dict[str, Any]) -> A:
    """Validate the arguments of a spider; raise `UserError` with one sentence if they are invalid."""
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0]) if problem["loc"] else "?"
        if problem["type"] == "missing":
            what = f"needs -a {name}=… ({_describe(model, name)})"
        elif not problem["loc"]:
            what = f"cannot use these arguments: {problem['msg'].removeprefix('Value error, ')}"
        elif problem["type"] == "extra_forbidden":
            what = f"has no argument {name!r}. Known: {_list(model)}"
        else:
            what = f"cannot use -a {name}={arguments.get(name)!s}: {problem['msg'].lower()}"
        raise UserError(f"The {spider} spider {what}.") from None


def _describe(model: type[Arguments], name: str) -> str:
    field = model.model_fields.get(name)
    return (field.description if field else None) or name


def _list(model: type[Arguments]) -> str:
    return ", ".join(name for name in model.model_fields if name != "job")
