"""What an answer to /robots.txt means. A file that cannot be read as rules forbids everything."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

MOST_BYTES = 2 * 1024 * 1024
SHORTEST_DELAY = 1.0
LONGEST_DELAY = 60.0

_MARKUP = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_KNOWN = re.compile(
    r"\s*(?:user[- ]?agent|diss?all?ow|allow|sitemaps?|site-map|crawl[- ]delay|request[- ]rate|visit[- ]time|"
    r"host|clean-param|noindex|cache-delay|indexpage|comment|content-signal)\s*[:\s]",
    re.IGNORECASE,
)
_AGENT = re.compile(r"\s*user[- ]?agent\s*[:\s]", re.IGNORECASE)
# A name with what it is not known by in a robots.txt: `pricewatch/1.0 (+https://…)`.
_NAME_AND_MORE = re.compile(r"(\s*user[- ]?agent\s*[:\s]\s*[\w*-]+)(?:/|\s*\().*", re.IGNORECASE)
_ALLOW = re.compile(r"\s*allow\s*[:\s]", re.IGNORECASE)
_DISALLOW = re.compile(r"\s*di(?:ss?all?ow|asllow|sallaw)\s*[:\s]", re.IGNORECASE)
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"


class RobotsOutcome(StrEnum):
    RULES = "rules"
    NO_RULES = "no_rules"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """What was found: rules as text, no rules at all, or nothing that can be trusted."""

    outcome: RobotsOutcome
    reason: str
    text: str = ""


def unavailable(reason: str) -> RobotsFile:
    return RobotsFile(RobotsOutcome.UNAVAILABLE, reason)


def read_robots(status: int, body: bytes) -> RobotsFile:
    """Read an answer: 4xx means no rules; 401, 403 and 429 that we may not look; 407 is a proxy's."""
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
    if not any(_KNOWN.match(line) for line in lines):
        return unavailable("no line is a rule")
    return RobotsFile(RobotsOutcome.RULES, "rules", "\n".join(_careful(lines)))


def _careful(lines: list[str]) -> list[str]:
    """The same lines, with what is unclear in them read as the stricter of its meanings."""
    first_agent = next((n for n, line in enumerate(lines) if _AGENT.match(line)), len(lines))
    # Rules before any User-agent are nobody's by the standard; whoever wrote them meant everybody.
    orphans = [line for line in lines[:first_agent] if _DISALLOW.match(line)]
    others = [line for line in lines[:first_agent] if not (_DISALLOW.match(line) or _ALLOW.match(line))]
    kept = [*others, *(_NAME_AND_MORE.sub(r"\1", line) for line in lines[first_agent:])]
    if orphans:
        kept = [*kept, "User-agent: *", *orphans]
    # Bytes that are not UTF-8: a Disallow is cut short there and so forbids more, an Allow is left out.
    return [
        _cut_short(line) if _UNREADABLE in line and _DISALLOW.match(line) else line
        for line in kept
        if not (_UNREADABLE in line and _ALLOW.match(line))
    ]


def _cut_short(disallow: str) -> str:
    """An empty Disallow would allow everything, so one that begins with rubbish forbids everything."""
    readable = disallow.partition(_UNREADABLE)[0].rstrip()
    return readable if _DISALLOW.sub("", f"{readable} ", count=1).strip(": ") else "Disallow: /"


def crawl_delay(given: float | None) -> float | None:
    """A Crawl-delay as it is honoured; None where there is none."""
    return None if given is None else min(max(given, SHORTEST_DELAY), LONGEST_DELAY)
