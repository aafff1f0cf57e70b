"""Which parameters of a market an adapter builds its search from: found by watching what it asks for."""

from __future__ import annotations

from typing import Any

from pricewatch.adapters.base import Adapter, NotAnOverviewAdapter


class _Watched(dict[str, Any]):
    """Parameters that are all given, or none, and that remember which were wanted."""

    def __init__(self, asked: list[str], answer: str | None):
        super().__init__()
        self.asked, self.answer = asked, answer

    def get(self, name: str, default: Any = None) -> Any:
        return self[name]

    def __getitem__(self, name: str) -> Any:
        if name not in self.asked:
            self.asked.append(name)
        return self.answer

    def __contains__(self, name: object) -> bool:
        return self.get(str(name)) is not None


def parameters_of(adapter: Adapter) -> list[str]:
    """None where markets of this adapter are given by start pages only."""
    asked: list[str] = []
    try:
        for answer in ("1", None):
            adapter.start_pages(_Watched(asked, answer))
    except NotAnOverviewAdapter:
        return []
    return asked
