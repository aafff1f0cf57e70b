"""The rules of the audit, and how often each was checked and broken."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum


class AuditRule(StrEnum):
    """What must not happen; the values are printed in reports."""

    NOT_KNOWN = "a listing that was visible for a whole sweep is not stored"
    STORED_TWICE = "a listing is stored twice"
    NO_ROW = "a price that was visible for a whole sweep is not in the history"
    STALE = "the stored price is not the one that the last sweep saw"
    REPEATED = "a history row repeats the previous row"
    PRICE_NEVER_SHOWN = "a stored price was not shown at that time"
    AVAILABILITY_NEVER_SHOWN = "a stored availability was not shown at that time"
    WRONG_AGE = "the time of a price is one at which the price was not shown"
    WRONGLY_GONE = "a listing was marked as gone while it was online"
    INACTIVE = "a listing that is online is inactive"
    WITHOUT_PRICE = "a listing that is online has no price"
    STILL_ACTIVE = "a listing that is gone is still active"
    LOST_TARGET = "a target moved to another URL and was not followed"
    HELD_TWICE = "an offer is quarantined twice for the same reason"
    STUCK_SWEEP = "no sweep was completed in time"
    DISABLED = "an adapter was disabled although the shop works"


@dataclass(slots=True)
class AuditVerdict:
    """The number of checks per rule, and a description of each violation."""

    checked: Counter[str] = field(default_factory=Counter)
    broken: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def check(self, rule: AuditRule, holds: bool, description: str) -> None:
        self.checked[rule] += 1
        if not holds:
            self.broken[rule].append(description)

    def add(self, other: AuditVerdict) -> None:
        self.checked += other.checked
        for rule, cases in other.broken.items():
            self.broken[rule] += cases
