"""The filter by which targets are listed, counted and chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy.sql import ColumnElement

from pricewatch.store.models import Target


@dataclass(frozen=True, slots=True)
class TargetFilter:
    """Conditions on targets; a target must meet all that are set."""

    ids: Sequence[int] | None = None
    status: str | None = None
    source_id: str | None = None
    adapter_id: str | None = None
    queue_state: str | None = None
    contains: str | None = None
    due_before: datetime | None = None
    up_to: int | None = None

    @property
    def is_everything(self) -> bool:
        return all(value is None for value in asdict(self).values())

    @property
    def is_indexed(self) -> bool:
        return self.ids is not None or (self.contains is None and self.source_id is None)

    def conditions(self) -> list[ColumnElement[bool]]:
        conditions: list[ColumnElement[bool]] = []
        if self.ids is not None:
            conditions.append(Target.id.in_(list(self.ids)))
        conditions += [
            getattr(Target, name) == value
            for name in ("status", "source_id", "adapter_id", "queue_state")
            if (value := getattr(self, name)) is not None
        ]
        if self.status is not None and self.status != "ACTIVE":
            # Redundant, but lets the planner use the partial index of targets that are not active.
            conditions.append(Target.status != "ACTIVE")
        if self.contains is not None:
            conditions.append(Target.url.icontains(self.contains, autoescape=True))
        if self.due_before is not None:
            conditions.append(Target.next_due_at <= self.due_before)
        if self.up_to is not None:
            conditions.append(Target.id <= self.up_to)
        return conditions
