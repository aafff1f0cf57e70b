"""The control interface under /_control: JSON in, JSON out. Its requests are not logged and get no faults."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pricewatch.bazaar import manual_changes
from pricewatch.bazaar.fault_rules import FaultRules
from pricewatch.bazaar.ground_truth import ground_truth, listing_record
from pricewatch.bazaar.habits.registry import HABITS
from pricewatch.bazaar.http_messages import JSON, Request, Response
from pricewatch.bazaar.json_fields import BadInput, JsonFields
from pricewatch.bazaar.request_log import RequestLog
from pricewatch.bazaar.result_pages import BEYOND_ANSWERS, BEYOND_PAGES
from pricewatch.bazaar.storefront import Storefront

PREFIX = "/_control/"
LARGEST_MAX_ROWS = 1000
BEYOND = (*BEYOND_PAGES, *BEYOND_ANSWERS)

Handler = Callable[[Request], Any]


class ControlInterface:
    """Move the clock, add faults and habits, change listings, read the ground truth and the log."""

    def __init__(
        self,
        storefront: Storefront,
        faults: FaultRules,
        request_log: RequestLog,
        reset: Callable[[datetime], None],
    ) -> None:
        self._storefront = storefront
        self._reset = reset
        self._inventory = storefront.inventory
        self._faults = faults
        self._request_log = request_log
        self._routes: dict[str, dict[str, Handler]] = {
            "clock": {"GET": self._clock, "POST": self._set_clock},
            "truth": {"GET": self._truth},
            "faults": {"GET": self._list_faults, "POST": self._add_fault, "DELETE": self._clear_faults},
            "robots": {"GET": self._show_robots, "POST": self._set_robots, "DELETE": self._restore_robots},
            "habits": {"GET": self._list_habits, "POST": self._order_habit, "DELETE": self._drop_habits},
            "behaviour": {"GET": self._behaviour, "POST": self._set_behaviour},
            "listing": {"POST": self._change_listing},
            "reset": {"POST": self._restart},
            "log": {"GET": self._log, "DELETE": self._clear_log},
        }

    def handle(self, request: Request) -> Response:
        """Answer a control request; invalid input is answered with 400 and an error message."""
        methods = self._routes.get(request.path.removeprefix(PREFIX))
        if methods is None:
            return _json({"error": f"Unknown path {request.path}."}, 404)
        handler = methods.get(request.method)
        if handler is None:
            return _json({"error": f"{request.path} allows {', '.join(methods)}."}, 405)
        try:
            return _json(handler(request))
        except BadInput as error:
            return _json({"error": str(error)}, 400)

    def _clock(self, _request: Request) -> dict[str, Any]:
        clock = self._inventory.clock
        return {"now": clock.iso(clock.now()), "start": clock.iso(0), "rate": clock.rate}

    def _set_clock(self, request: Request) -> dict[str, Any]:
        fields = JsonFields.read(request.body)
        clock = self._inventory.clock
        try:
            if fields.has("now"):
                moment = fields.date_time("now")
                fields.refuse_unknown()
                clock.set_date(moment)
            else:
                seconds = fields.number("advance")
                fields.refuse_unknown()
                clock.set(clock.now() + seconds)
        except ValueError as error:
            raise BadInput(f"{error}.".capitalize()) from error
        return self._clock(request)

    def _truth(self, request: Request) -> list[dict[str, Any]]:
        category = request.query.get("category") or None
        if category is not None and category not in self._inventory.categories:
            raise BadInput(f"Unknown category: {category}.")
        return ground_truth(self._storefront, category)

    def _list_faults(self, _request: Request) -> list[dict[str, Any]]:
        return [rule.summary() for rule in self._faults.rules]

    def _add_fault(self, request: Request) -> dict[str, Any]:
        return self._faults.add(JsonFields.read(request.body)).summary()

    def _clear_faults(self, request: Request) -> list[dict[str, Any]]:
        self._faults.clear()
        return self._list_faults(request)

    def _show_robots(self, _request: Request) -> dict[str, Any] | None:
        return None if self._faults.robots is None else self._faults.robots.summary()

    def _set_robots(self, request: Request) -> dict[str, Any]:
        return self._faults.set_robots(JsonFields.read(request.body)).summary()

    def _restore_robots(self, _request: Request) -> None:
        self._faults.robots = None

    def _list_habits(self, _request: Request) -> dict[str, Any]:
        habits = self._storefront.habits
        return {
            "known": {name: habit.about for name, habit in HABITS.items()},
            "ordered": [habits.summary(period) for period in habits.periods],
        }

    def _order_habit(self, request: Request) -> dict[str, Any]:
        habits = self._storefront.habits
        return habits.summary(habits.order(JsonFields.read(request.body)))

    def _drop_habits(self, request: Request) -> dict[str, Any]:
        name = request.query.get("habit")
        if name is not None and name not in HABITS:
            raise BadInput(f"Unknown habit: {name}.")
        self._storefront.habits.drop(name)
        return self._list_habits(request)

    def _behaviour(self, _request: Request) -> dict[str, Any]:
        behaviour = self._storefront.behaviour
        return {
            "beyond_last": behaviour.beyond_last,
            "max_rows": behaviour.max_rows,
            "head": behaviour.head,
        }

    def _set_behaviour(self, request: Request) -> dict[str, Any]:
        fields = JsonFields.read(request.body)
        before = self._storefront.behaviour
        after = replace(
            before,
            beyond_last=fields.choice("beyond_last", BEYOND, before.beyond_last),
            max_rows=fields.integer("max_rows", before.max_rows, 1, LARGEST_MAX_ROWS),
            head=fields.choice("head", ("ok", "405", "403"), before.head),
        )
        fields.refuse_unknown()
        self._storefront.behaviour = after
        return self._behaviour(request)

    def _change_listing(self, request: Request) -> dict[str, Any]:
        listing = manual_changes.change(self._inventory, JsonFields.read(request.body))
        return listing_record(self._storefront, listing, self._inventory.update())

    def _restart(self, request: Request) -> dict[str, Any]:
        fields = JsonFields.read(request.body)
        start = fields.date_time("start") if fields.has("start") else datetime.now(UTC)
        fields.refuse_unknown()
        self._reset(start)
        return {"start": start.isoformat()}

    def _log(self, request: Request) -> list[dict[str, Any]]:
        since = request.query.get("since", "0")
        if not since.isascii() or not since.isdigit():
            raise BadInput("since must be a whole number.")
        return self._request_log.since(int(since))

    def _clear_log(self, _request: Request) -> list[Any]:
        self._request_log.clear()
        return []


def _json(value: Any, status: int = 200) -> Response:
    return Response(status, json.dumps(value, ensure_ascii=False).encode() + b"\n", JSON)
