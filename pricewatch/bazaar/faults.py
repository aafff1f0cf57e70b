"""Rules that make chosen requests fail. The first rule that fires wins."""

import re
from dataclasses import dataclass, field
from random import Random
from typing import Any

from pricewatch.bazaar import actions
from pricewatch.bazaar.actions import Action, HoldBack, Normal
from pricewatch.bazaar.effects import Effect
from pricewatch.bazaar.fields import Fields
from pricewatch.bazaar.messages import TEXT, Request, Response

ROBOTS_PATH = r"^/robots\.txt(\?|$)"


@dataclass(slots=True)
class Rule:
    """Which requests it is for, how often it fires, and what it does."""

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
        """Tell whether it fires for this request, and count it."""
        if self.proxy is not None and request.proxy != self.proxy:
            return False
        if self.method is not None and request.method != self.method:
            return False
        if not self.path.search(request.target) or not self.host.search(request.host):
            return False
        self.matched += 1
        spent = self.times is not None and self.hits >= self.times
        if self.matched <= self.skip or spent or self.random.random() >= self.probability:
            return False
        self.hits += 1
        return True

    def summary(self) -> dict[str, Any]:
        """Return what the control interface tells about it."""
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


class Faults:
    """All rules in force, and the one for robots.txt, which is set and lifted on its own."""

    def __init__(self, seed: int) -> None:
        self.rules: list[Rule] = []
        self.robots: Rule | None = None
        self._seed = seed
        self._made = 0

    def add(self, fields: Fields) -> Rule:
        """Add a rule."""
        rule = self._read(fields, "")
        self.rules.append(rule)
        return rule

    def set_robots(self, fields: Fields) -> Rule:
        """Set what robots.txt does: a body, a status, or any action."""
        if fields.has("action"):
            self.robots = self._read(fields, ROBOTS_PATH)
        else:
            code = fields.whole("status", 200, 200, 599)
            response = Response(code, fields.body(), TEXT, fields.headers())
            self.robots = self._read(fields, ROBOTS_PATH, ("respond", lambda _request, _normal: response))
        return self.robots

    def clear(self) -> None:
        """Lift all rules but the one for robots.txt, and start the random numbers again."""
        for rule in self.rules:
            if isinstance(rule.action, HoldBack):
                rule.action.lift()
        self.rules.clear()
        self._made = 0

    def apply(self, request: Request, normal: Normal) -> tuple[Response | Effect, str] | None:
        """Return what the first rule that fires answers, and its action's name; None where none fires."""
        for rule in (*self.rules, self.robots) if self.robots else self.rules:
            if rule.fires(request):
                return rule.action(request, normal), rule.action_name
        return None

    def _read(self, fields: Fields, path: str, action: tuple[str, Action] | None = None) -> Rule:
        name, act = action or actions.read(fields)
        rule = Rule(
            number=self._made + 1,
            action_name=name,
            action=act,
            path=fields.pattern("path", path),
            host=fields.pattern("host", ""),
            method=fields.text("method").upper() if fields.has("method") else None,
            proxy=fields.maybe_whole("proxy"),
            times=fields.maybe_whole("times"),
            skip=fields.whole("skip", 0),
            probability=fields.number("probability", 1.0, 0),
            random=Random(f"{self._seed}/rule {self._made}"),
        )
        fields.done()
        self._made += 1
        return rule
