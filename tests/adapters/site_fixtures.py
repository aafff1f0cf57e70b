"""Saved pages of sites, each in a folder with the expected result of the adapter."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scrapy.http import HtmlResponse, Request, TextResponse

from pricewatch.adapters import get
from pricewatch.items import Card, Extracted, Offer
from tests.conftest import ROOT

FIXTURES = Path(__file__).parent / "fixtures"
# Captures of real sites; they are optional and not part of the project.
CAPTURES = ROOT.parent / "shared" / "pages" / "sites"


def cases(adapter_id: str) -> list[str]:
    return sorted(folder.name for folder in (FIXTURES / adapter_id).iterdir())


def expected(adapter_id: str, case: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIXTURES / adapter_id / case / "expected.json").read_text("utf-8"))
    return found


def page_body(adapter_id: str, case: str) -> bytes:
    (path,) = (FIXTURES / adapter_id / case).glob("page.*")
    return path.read_bytes()


def respond(url: str, body: bytes, status: int = 200) -> TextResponse:
    kind = HtmlResponse if body.lstrip().startswith(b"<") else TextResponse
    return kind(url, status=status, body=body, encoding="utf-8", request=Request(url))


def check(adapter_id: str, case: str) -> None:
    """Compare the result of the adapter with the fields in expected.json."""
    adapter, expectation = get(adapter_id), expected(adapter_id, case)
    response = respond(expectation["url"], page_body(adapter_id, case), expectation.get("status", 200))
    if expectation["kind"] == "overview":
        overview = adapter.read_overview(response)
        if "failure" in expectation:
            assert getattr(overview, "reason", overview) == expectation["failure"]
            return
        assert not hasattr(overview, "reason"), overview
        assert overview.has_next is expectation["has_next"]
        assert overview.total == expectation.get("total")
        rows = expectation["cards"]
        assert [_picked(card, fields) for card, fields in zip(overview.cards, rows, strict=True)] == rows
        return
    result = adapter.extract(response)
    assert adapter.presence(response).presence == expectation["presence"]
    if "failure" in expectation:
        assert getattr(result, "reason", result) == expectation["failure"]
        assert expectation.get("details", "") in str(getattr(result, "details", ""))
        return
    assert isinstance(result, Extracted), result
    assert _picked(result.offer, expectation["offer"]) == expectation["offer"]


def _picked(item: Card | Offer, fields: dict[str, Any]) -> dict[str, Any]:
    values = asdict(item)
    selected = {name: values[name] for name in fields}
    if selected.get("sold_at"):
        selected["sold_at"] = selected["sold_at"].isoformat()
    return selected
