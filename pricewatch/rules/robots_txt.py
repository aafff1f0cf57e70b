"""Parse responses to /robots.txt. A file that cannot be parsed as rules forbids everything.

Lines are parsed as Google's parser does where that is stricter than protego: a group lasts until the first
User-agent line after a rule, whatever lies between; an agent name ends at the first other character.
Ambiguous lines get the stricter meaning. The result is text that protego can parse.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate

MOST_BYTES = 2 * 1024 * 1024
# Of lines that are not comments; RFC 9309 demands to parse at least 500 KiB, and Google ignores what follows.
PARSED_LENGTH = 500 * 1024
PARSED_LINES = 50_000
SHORTEST_DELAY = 1.0
LONGEST_DELAY = 60.0
# Google truncates lines here; a truncated Disallow forbids more.
LONGEST_LINE = 2083 * 8 - 1
EVERYBODY = "*"

_AGENT = "User-agent: "
_AGENTS = ("user-agent", "useragent", "user agent")
_DISALLOWS = ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")
_DELAYS = ("crawl-delay", "crawl delay", "crawldelay")
_SITEMAPS = ("sitemap", "site-map")
# Directives of other crawlers: a file with only these is still a robots.txt file.
_OTHERS = frozenset(
    {"request-rate", "request rate", "visit-time", "visit time", "host", "clean-param", "noindex"}
    | {"cache-delay", "indexpage", "comment", "content-signal"}
)
_MARKUP = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_-]+")
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"
# Stripped from both ends of names and values.
_BLANK = (
    string.whitespace + _UNREADABLE + "\N{NO-BREAK SPACE}\N{ZERO WIDTH SPACE}\N{ZERO WIDTH NO-BREAK SPACE}"
)
# Bytes that are not UTF-8, and characters that protego treats as line ends.
_ENDS_PATH = re.compile(rf"[\x0b\x0c\x1c-\x1e\x85\u2028\u2029{_UNREADABLE}]")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
# Characters that URLs need not escape. Google distinguishes them from their escapes, protego does not.
_UNESCAPED = frozenset(map(ord, string.ascii_letters + string.digits + "-._~:?#[]@!$&'()*+,;="))


class RobotsOutcome(StrEnum):
    RULES = "rules"
    NO_RULES = "no_rules"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """The result: rules as text, no rules, or unavailable."""

    outcome: RobotsOutcome
    reason: str
    text: str = ""


@dataclass(slots=True)
class _Group:
    """The agents of consecutive User-agent lines, and the rules that follow them."""

    agents: list[str] = field(default_factory=list)
    delays: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    is_closed: bool = False

    def lines(self) -> Iterator[str]:
        yield from (f"{_AGENT}{agent}" for agent in self.agents)
        yield from self.delays
        # An empty Disallow forbids nothing; it only ends the group.
        yield from self.rules or ["Disallow:"]


def unavailable(reason: str) -> RobotsFile:
    return RobotsFile(RobotsOutcome.UNAVAILABLE, reason)


def read_robots(status: int, body: bytes) -> RobotsFile:
    """Parse a response: 4xx means no rules, but 401, 403, 407 (from a proxy) and 429 mean unavailable."""
    if status in (401, 403, 407, 429):
        return unavailable(f"status {status}")
    if 400 <= status < 500:
        return RobotsFile(RobotsOutcome.NO_RULES, f"status {status}")
    if not 200 <= status < 300:
        return unavailable(f"status {status}")
    return read_rules(body)


def read_rules(body: bytes) -> RobotsFile:
    if len(body) > MOST_BYTES:
        return unavailable("too large")
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return unavailable("UTF-16")
    if b"\0" in body:
        return unavailable("NUL bytes")
    text = body.decode("utf-8-sig", errors="replace")
    lines = [line for raw in re.split(r"\r\n|\r|\n", text) if (line := raw.partition("#")[0].strip())]
    if text.lstrip().startswith("<") or any(_MARKUP.search(line) for line in lines[:50]):
        return unavailable("HTML")
    if not lines:
        return RobotsFile(RobotsOutcome.NO_RULES, "empty")
    parsed = _parsed_lines(lines)
    records = _records(parsed)
    if not records:
        return unavailable("no line is a rule")
    sitemaps = [f"Sitemap: {value}" for name, value in records if name == _SITEMAPS[0]]
    groups = _groups(records)
    if len(parsed) < len(lines) and not any(EVERYBODY in group.agents for group in groups):
        # What follows may be the rules for us.
        return unavailable("too large")
    rules = [line for group in groups for line in group.lines()]
    return RobotsFile(RobotsOutcome.RULES, "rules", "\n".join(rules + sitemaps))


def _parsed_lines(lines: list[str]) -> list[str]:
    """The lines up to the limits; only whole ones, because a part of an Allow allows more."""
    lengths = accumulate(min(len(line), LONGEST_LINE) for line in lines[:PARSED_LINES])
    return lines[: sum(length <= PARSED_LENGTH for length in lengths)]


def rules_for(text: str, agent: str) -> str:
    """Return the rules for this agent by its full name (protego matches prefixes), else those for `*`."""
    groups = _groups(_records(text.splitlines()))
    own = [group for group in groups if agent.lower() in map(str.lower, group.agents)]
    chosen = own or [group for group in groups if EVERYBODY in group.agents]
    # protego uses the last delay; the longest is the most polite.
    delays = sorted((line for group in chosen for line in group.delays), key=_seconds)
    rules = [line for group in chosen for line in group.rules]
    return "\n".join([f"{_AGENT}{EVERYBODY}", *delays, *rules])


def crawl_delay(requested: float | None) -> float | None:
    """Return the Crawl-delay limited to the range that is honoured; None if there is none."""
    return None if requested is None else min(max(requested, SHORTEST_DELAY), LONGEST_DELAY)


def _records(lines: list[str]) -> list[tuple[str, str]]:
    return [record for line in lines if (record := _record(line)) is not None]


def _record(line: str) -> tuple[str, str] | None:
    """Split a line into name and value; None if it is not a known directive."""
    name, colon, value = line.partition(":")
    if not colon:
        # `disallow /` without a colon is unambiguous; more than two words are prose.
        words = line.split()
        if len(words) != 2 and not line.lower().startswith(_DISALLOWS):
            return None
        name, value = words[0], "".join(words[1:2])
    name, value = name.strip(_BLANK).lower(), value.strip()
    for names in (_AGENTS, _DISALLOWS, _DELAYS, _SITEMAPS):
        if name.startswith(names):
            return names[0], value
    return (name, value) if name == "allow" or name in _OTHERS else None


def _groups(records: list[tuple[str, str]]) -> list[_Group]:
    """Group rules as Google does; ambiguous lines get the stricter meaning."""
    # Rules before any User-agent, or after one without a name, apply to everybody: the likely intention.
    unnamed = group = _Group()
    groups: list[_Group] = []
    for name, value in records:
        if name == _AGENTS[0]:
            if group is unnamed or group.is_closed:
                group = _Group()
                groups.append(group)
            if agent := _agent(value):
                group.agents.append(agent)
        elif name == _DISALLOWS[0]:
            group.is_closed = True
            group.rules.append(f"Disallow: {_forbidden(value)}")
        elif name == "allow":
            group.is_closed = True
            group.rules += [f"Allow: {value}"] if _is_certain(value) else []
        elif name == _DELAYS[0]:
            group.delays.append(f"Crawl-delay: {value}")
    orphans = [rule for each in (unnamed, *groups) if not each.agents for rule in each.rules]
    forbidden = [rule for rule in orphans if rule.startswith("Disallow")]
    everybody = [_Group([EVERYBODY], rules=forbidden)] if forbidden else []
    return [each for each in groups if each.agents] + everybody


def _agent(value: str) -> str | None:
    """Return the name in a User-agent line: `pricewatch/1.0 (+https://…)` is `pricewatch`, `* all` is `*`."""
    value = value.strip(_BLANK)
    if value.startswith(EVERYBODY) and not value[1:2].isalnum():
        return EVERYBODY
    name = _NAME.match(value)
    return name[0] if name else None


def _forbidden(path: str) -> str:
    """Return the readable part of a path; an unreadable path forbids everything, an empty one nothing."""
    readable = _ENDS_PATH.split(path[: LONGEST_LINE - len("disallow: ")], maxsplit=1)[0].rstrip()
    return readable or ("/" if path else "")


def _is_certain(path: str) -> bool:
    """Return whether all parsers interpret an Allow path the same way."""
    escaped = (int(code, 16) for code in _ESCAPE.findall(path))
    return not _ENDS_PATH.search(path) and not any(code in _UNESCAPED for code in escaped)


def _seconds(delay: str) -> float:
    try:
        return float(delay.partition(":")[2])
    except ValueError:
        return 0.0
