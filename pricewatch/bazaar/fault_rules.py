"""Rules that make selected requests fail. The first rule that fires wins."""

import re
from dataclasses import dataclass, field
from random import Random
from typing import Any

from pricewatch.bazaar import fault_actions
from pricewatch.bazaar.fault_actions import Action, HoldAction, Normal
from pricewatch.bazaar.http_messages import TEXT, Request, Response
from pricewatch.bazaar.json_fields import JsonFields
from pricewatch.bazaar.streaming import StreamingResponse

ROBOTS_PATH = r"^/robots\.txt(\?|$)"


@dataclass(slots=True)
class FaultRule:
    """The requests a fault applies to, how often it fires, and its action."""

    number: int
    action_name: str
    action: Action
    path: re.Pattern[str]
    host: re.Pattern[str]
    method: str | None
    proxy: int | None
    times: int | None
    skip: int
    probability: float
    random: Random = field(repr=False)
    matched: int = 0
    hits: int = 0

    def fires(self, request: Request) -> bool:
        """Return whether it fires for this request, and count it."""
        if self.proxy is not None and request.proxy != self.proxy:
            return False
        if self.method is not None and request.method != self.method:
            return False
        if not self.path.search(request.target) or not self.host.search(request.host):
            return False
        self.matched += 1
        used_up = self.times is not None and self.hits >= self.times
        if self.matched <= self.skip or used_up or self.random.random() >= self.probability:
            return False
        self.hits += 1
        return True

    def summary(self) -> dict[str, Any]:
        """Return the rule as the control interface shows it."""
        return {
            "number": self.number,
            "action": self.action_name,
            "path": self.path.pattern,
            "host": self.host.pattern,
            "method": self.method,
            "proxy": self.proxy,
            "times": self.times,
            "skip": self.skip,
            "probability": self.probability,
            "matched": self.matched,
            "hits": self.hits,
        }


class FaultRules:
    """All active rules, and the rule for robots.txt, which is set and removed separately."""

    def __init__(self, seed: int) -> None:
        self.rules: list[FaultRule] = []
        self.robots: FaultRule | None = None
        self._seed = seed
        self._created = 0

    def add(self, fields: JsonFields) -> FaultRule:
        """Add a rule."""
        rule = self._read(fields, "")
        self.rules.append(rule)
        return rule

    def set_robots(self, fields: JsonFields) -> FaultRule:
        """Set the answer to robots.txt: a body, a status, or any action."""
        if fields.has("action"):
            self.robots = self._read(fields, ROBOTS_PATH)
        else:
            code = fields.integer("status", 200, 200, 599)
            response = Response(code, fields.body(), TEXT, fields.headers())
            self.robots = self._read(fields, ROBOTS_PATH, ("respond", lambda _request, _normal: response))
        return self.robots

    def clear(self) -> None:
        """Remove all rules except the one for robots.txt, and restart the random numbers."""
        for rule in self.rules:
            if isinstance(rule.action, HoldAction):
                rule.action.release()
        self.rules.clear()
        self._created = 0

    def apply(self, request: Request, normal: Normal) -> tuple[Response | StreamingResponse, str] | None:
        """Return the response of the first rule that fires and its action's name; None if no rule fires."""
        for rule in (*self.rules, self.robots) if self.robots else self.rules:
            if rule.fires(request):
                return rule.action(request, normal), rule.action_name
        return None

    def _read(self, fields: JsonFields, path: str, action: tuple[str, Action] | None = None) -> FaultRule:
        name, act = action or fault_actions.read(fields)
        rule = FaultRule(
            number=self._created + 1,
            action_name=name,
            action=act,
            path=fields.pattern("path", path),
            host=fields.pattern("host", ""),
            method=fields.string("method").upper() if fields.has("method") else None,
            proxy=fields.optional_integer("proxy"),
            times=fields.optional_integer("times"),
            skip=fields.integer("skip", 0),
            probability=fields.number("probability", 1.0, 0),
            random=Random(f"{self._seed}/rule {self._created}"),
        )
        fields.refuse_unknown()
        self._created += 1
        return rule
