"""What can be read from a page: calls that reader processes know by name, with the types of their results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pricewatch.adapters.base import AmountReport, Overview, PresenceEvidence
from pricewatch.items import Extracted, ExtractFailure, Quarantine

R_co = TypeVar("R_co", covariant=True)
Extraction = Extracted | ExtractFailure | Quarantine
Explanation = tuple[str, list[AmountReport]]


@dataclass(frozen=True, slots=True)
class PageCall(Generic[R_co]):
    """One call, and the types that its result may have."""

    name: str
    results: tuple[Any, ...]


# Methods of adapters.
EXTRACT: PageCall[Extraction] = PageCall("extract", (Extracted, ExtractFailure, Quarantine))
READ_OVERVIEW: PageCall[Overview | ExtractFailure] = PageCall("read_overview", (Overview, ExtractFailure))
PRESENCE: PageCall[PresenceEvidence] = PageCall("presence", (PresenceEvidence,))
EXPLAIN: PageCall[Explanation] = PageCall("explain", (Explanation,))
# A sanitized copy of the page for people, which needs no adapter.
DISPLAY: PageCall[str] = PageCall("display", (str,))
