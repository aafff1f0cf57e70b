"""Spider arguments: typed and validated in one place, with messages for people."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pricewatch.errors import UserError
from pricewatch.store.models.run_tables import TRIGGERS

A = TypeVar("A", bound="Arguments")
# More than any site has, and no more than the database can count to.
MOST = 1_000_000_000


class Arguments(BaseModel):
    """What every spider takes."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    trigger: str = Field("MANUAL", pattern=f"^({'|'.join(TRIGGERS)})$", description="who started this run")
    job: str | None = Field(None, alias="_job", description="scrapyd's id of the job")


class MarketArguments(Arguments):
    market: str = Field(min_length=1, description="the market to crawl, by its id")
    max_pages: int | None = Field(
        None, ge=1, le=MOST, description="read at most this many pages of each start page"
    )
    max_details: int | None = Field(None, ge=0, le=MOST, description="fetch at most this many product pages")


class TargetsArguments(Arguments):
    """Without any of these, what is due or waits in the queue."""

    source: str | None = Field(None, description="only targets of this source, by its id or domain")
    ids: str | None = Field(
        None, pattern=r"^\d{1,18}( *, *\d{1,18})*$", description="these targets now, by number: 1,2,3"
    )
    url: str | None = Field(None, min_length=1, max_length=2000, description="this one page now")
    store: Literal["yes", "no"] | None = Field(
        None, description="with url: yes watches the page from now on, no only looks at it"
    )
    adapter: str | None = Field(None, description="with url: read the page with this adapter")
    selectors: str | None = Field(
        None, description='with url: try selectors, as JSON such as {"price": ".amount"}'
    )
    max_targets: int | None = Field(None, ge=1, le=MOST, description="fetch no more than this many")

    @model_validator(mode="after")
    def _one_choice(self) -> TargetsArguments:
        if sum(value is not None for value in (self.source, self.ids, self.url)) > 1:
            raise ValueError("source, ids and url exclude each other")
        if self.url is None and any((self.store, self.adapter, self.selectors)):
            raise ValueError("store, adapter and selectors belong to url")
        if self.store == "yes" and (self.adapter or self.selectors):
            raise ValueError("store=yes takes no adapter or selectors: `scrapy targets add` does")
        return self


def parse_arguments(model: type[A], spider: str, given: dict[str, Any]) -> A:
    """The arguments as the spider's own type, or one sentence on what is wrong with them."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0]) if problem["loc"] else "?"
        if problem["type"] == "missing":
            what = f"needs -a {name}=… ({_describe(model, name)})"
        elif not problem["loc"]:
            what = f"cannot take these arguments: {problem['msg'].removeprefix('Value error, ')}"
        elif problem["type"] == "extra_forbidden":
            what = f"knows no argument {name!r}; it takes {_list(model)}"
        else:
            what = f"cannot take -a {name}={given.get(name)!s}: {problem['msg'].lower()}"
        raise UserError(f"The {spider} spider {what}.") from None


def _describe(model: type[Arguments], name: str) -> str:
    field = model.model_fields.get(name)
    return (field.description if field else None) or name


def _list(model: type[Arguments]) -> str:
    return ", ".join(name for name in model.model_fields if name != "job")
