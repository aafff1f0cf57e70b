"""Who gets an export: not pages of other sites, and only a few clients at a time."""

from __future__ import annotations

from types import SimpleNamespace

import anyio
import pytest
from fastapi import HTTPException
from starlette.types import Message

from pricewatch.web import export_response
from pricewatch.web.export_response import ExportResponse, ExportSlots
from tests.databases import Database
from tests.web.conftest import client_of


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Referer": "http://127.0.0.1/listings"}, 200),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Referer": "https://evil.example/page"}, 403),
    ],
)
def test_pages_of_other_sites_cannot_start_an_export(
    database: Database, headers: dict[str, str], status: int
) -> None:
    with client_of(headers=headers) as client:
        for form in ("csv", "json", "parquet"):
            assert client.get(f"/api/export/listings.{form}").status_code == status


def test_a_failing_query_gets_an_error_response(database: Database) -> None:
    database.do("ALTER VIEW visible_listings RENAME TO hidden_listings")
    with client_of() as client:
        for _ in range(3):
            assert client.get("/api/export/listings.csv").status_code == 500


def test_a_limited_number_of_exports_runs_at_a_time() -> None:
    slots = ExportSlots(2)
    slots.take()
    slots.take()
    with pytest.raises(HTTPException, match="2 exports are running") as refused:
        slots.take()
    assert refused.value.headers == {"Retry-After": "30"}
    slots.release()
    slots.take()


@pytest.mark.parametrize("client", ["leaves", "takes forever"])
def test_an_export_that_cannot_be_sent_ends_and_frees_its_slot(
    monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    slots = ExportSlots(1)
    scope = {"type": "http", "path": "/x", "app": SimpleNamespace(state=SimpleNamespace(export_slots=slots))}
    monkeypatch.setattr(export_response, "MOST_SECONDS", 0.1)
    sent: list[Message] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            if client == "leaves":
                raise ConnectionResetError
            await anyio.sleep_forever()
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    anyio.run(ExportResponse(iter([b"a", b"b"])), scope, receive, send)
    assert [message["type"] for message in sent] == ["http.response.start"]
    slots.take()
