"""The control interface under /_control: JSON in, JSON out, never logged, never faulted."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pricewatch.bazaar import handmade
from pricewatch.bazaar.faults import Faults
from pricewatch.bazaar.fields import BadInput, Fields
from pricewatch.bazaar.habits.known import HABITS
from pricewatch.bazaar.journal import Journal
from pricewatch.bazaar.messages import JSON, Request, Response
from pricewatch.bazaar.results import BEYOND_ANSWERS, BEYOND_PAGES
from pricewatch.bazaar.site import Site
from pricewatch.bazaar.truth import record, truth

PREFIX = "/_control/"
LARGEST_PAGE = 1000
BEYOND = (*BEYOND_PAGES, *BEYOND_ANSWERS)

Handler = Callable[[Request], Any]


class Control:
    """Lets a test move the clock, order faults, change listings, and read truth and log."""

    def __init__(
        self, site: Site, faults: Faults, journal: Journal, reset: Callable[[datetime], None]
    ) -> None:
        self._site = site
        self._reset = reset
        self._world = site.world
        self._faults = faults
        self._journal = journal
        self._routes: dict[str, dict[str, Handler]] = {
            "clock": {"GET": self._clock, "POST": self._set_clock},
            "truth": {"GET": self._truth},
            "faults": {"GET": self._list_faults, "POST": self._add_fault, "DELETE": self._clear_faults},
            "robots": {"GET": self._show_robots, "POST": self._set_robots, "DELETE": self._restore_robots},
            "habits": {"GET": self._list_habits, "POST": self._order_habit, "DELETE": self._drop_habits},
            "behaviour": {"GET": self._behaviour, "POST": self._behave},
            "listing": {"POST": self._change},
            "reset": {"POST": self._begin_again},
            "log": {"GET": self._log, "DELETE": self._clear_log},
        }

    def handle(self, request: Request) -> Response:
        """Answer one control request; what cannot be used is told in a sentence."""
        methods = self._routes.get(request.path.removeprefix(PREFIX))
        if methods is None:
            return _json({"error": f"There is no {request.path}."}, 404)
        handler = methods.get(request.method)
        if handler is None:
            return _json({"error": f"{request.path} takes {', '.join(methods)}."}, 405)
        try:
            return _json(handler(request))
        except BadInput as error:
            return _json({"error": str(error)}, 400)

    def _clock(self, _request: Request) -> dict[str, Any]:
        clock = self._world.clock
        return {"now": clock.iso(clock.now()), "start": clock.iso(0), "rate": clock.rate}

    def _set_clock(self, request: Request) -> dict[str, Any]:
        fields = Fields.read(request.body)
        clock = self._world.clock
        try:
            if fields.has("now"):
                moment = fields.moment("now")
                fields.done()
                clock.set_date(moment)
            else:
                seconds = fields.number("advance")
                fields.done()
                clock.set(clock.now() + seconds)
        except ValueError as error:
            raise BadInput(f"{error}.".capitalize()) from error
        return self._clock(request)

    def _truth(self, request: Request) -> list[dict[str, Any]]:
        category = request.query.get("category") or None
        if category is not None and category not in self._world.shelves:
            raise BadInput(f"There is no category {category}.")
        return truth(self._site, category)

    def _list_faults(self, _request: Request) -> list[dict[str, Any]]:
        return [rule.summary() for rule in self._faults.rules]

    def _add_fault(self, request: Request) -> dict[str, Any]:
        return self._faults.add(Fields.read(request.body)).summary()

    def _clear_faults(self, request: Request) -> list[dict[str, Any]]:
        self._faults.clear()
        return self._list_faults(request)

    def _show_robots(self, _request: Request) -> dict[str, Any] | None:
        return None if self._faults.robots is None else self._faults.robots.summary()

    def _set_robots(self, request: Request) -> dict[str, Any]:
        return self._faults.set_robots(Fields.read(request.body)).summary()

    def _restore_robots(self, _request: Request) -> None:
        self._faults.robots = None

    def _list_habits(self, _request: Request) -> dict[str, Any]:
        habits = self._site.habits
        return {
            "known": {name: habit.about for name, habit in HABITS.items()},
            "ordered": [habits.summary(period) for period in habits.periods],
        }

    def _order_habit(self, request: Request) -> dict[str, Any]:
        habits = self._site.habits
        return habits.summary(habits.order(Fields.read(request.body)))

    def _drop_habits(self, request: Request) -> dict[str, Any]:
        name = request.query.get("habit")
        if name is not None and name not in HABITS:
            raise BadInput(f"There is no habit {name}.")
        self._site.habits.drop(name)
        return self._list_habits(request)

    def _behaviour(self, _request: Request) -> dict[str, Any]:
        behaviour = self._site.behaviour
        return {
            "beyond_last": behaviour.beyond_last,
            "max_rows": behaviour.max_rows,
            "head": behaviour.head,
        }

    def _behave(self, request: Request) -> dict[str, Any]:
        fields = Fields.read(request.body)
        before = self._site.behaviour
        after = replace(
            before,
            beyond_last=fields.choice("beyond_last", BEYOND, before.beyond_last),
            max_rows=fields.whole("max_rows", before.max_rows, 1, LARGEST_PAGE),
            head=fields.choice("head", ("ok", "405", "403"), before.head),
        )
        fields.done()
        self._site.behaviour = after
        return self._behaviour(request)

    def _change(self, request: Request) -> dict[str, Any]:
        listing = handmade.change(self._world, Fields.read(request.body))
        return record(self._site, listing, self._world.settle())

    def _begin_again(self, request: Request) -> dict[str, Any]:
        fields = Fields.read(request.body)
        start = fields.moment("start") if fields.has("start") else datetime.now(UTC)
        fields.done()
        self._reset(start)
        return {"start": start.isoformat()}

    def _log(self, request: Request) -> list[dict[str, Any]]:
        since = request.query.get("since", "0")
        if not since.isascii() or not since.isdigit():
            raise BadInput("since must be a whole number.")
        return self._journal.since(int(since))

    def _clear_log(self, _request: Request) -> list[Any]:
        self._journal.clear()
        return []


def _json(value: Any, status: int = 200) -> Response:
    return Response(status, json.dumps(value, ensure_ascii=False).encode() + b"\n", JSON)
