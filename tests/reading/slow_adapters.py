"""Adapters that take forever, fail, or use all memory, for tests of the limits of reading."""

from __future__ import annotations

import os
import re
import time
from typing import Any, ClassVar

import pytest

from pricewatch import adapters
from pricewatch.adapters.base import Adapter, PresenceEvidence
from pricewatch.adapters.bazaar import BazaarAdapter
from pricewatch.items import Extracted, ExtractFailure
from pricewatch.reading.read_limits import ReadLimits
from pricewatch.vocabulary import FailureReason

POISON = b"<!doctype html><title>poison</title><h1>poison</h1><p>Nothing else is on this page.</p>"
# As in the table of adapters.
SCRIPTED = {"scripted": "tests.reading.slow_adapters:ScriptedAdapter"}
# Libxml2 compares every element with every other element, several times over.
SLOW_XPATH = "//*[count(//*[count(//*[count(//*[count(//*) > 0]) > 0]) > 0]) > 0]"


def backtrack() -> None:
    """Take forever inside `re`, and ignore exceptions as careless code does."""
    try:
        re.match(r"(a+)+$", "a" * 60 + "b")
    except Exception:  # noqa: BLE001 - the deadline must not depend on the adapter
        time.sleep(60)


class ScriptedAdapter(Adapter):
    """Does what the page says."""

    id: ClassVar[str] = "scripted"
    version: ClassVar[str] = "1.0.0"
    domain: ClassVar[str] = "scripted.example"

    def __init__(self, price_place: str = "") -> None:
        self.price_place = price_place

    def with_price_place(self, selector: str) -> ScriptedAdapter:
        return ScriptedAdapter(selector)

    def extract(self, response: Any) -> Extracted | ExtractFailure:
        match response.text.split():
            case ["backtrack", *_]:
                backtrack()
            case ["sleep", *_]:
                time.sleep(60)
            case ["allocate", megabytes]:
                bytes(int(megabytes) * 2**20)
            case ["exit", *_]:
                os._exit(3)
            case ["raise", *_]:
                raise LookupError("no such thing")
        return ExtractFailure(FailureReason.PRICE_NOT_FOUND, f"pid={os.getpid()} place={self.price_place}")

    def presence(self, response: Any) -> PresenceEvidence:
        if response.text == "backtrack":
            backtrack()
        return "alive"  # type: ignore[return-value]  # a result of a wrong type


class PoisonPagesTakeForever:
    """An add-on: the adapter of the sample marketplace takes forever on pages with the word poison."""

    def update_settings(self, settings: Any) -> None:
        for name in ("extract", "read_overview", "presence"):
            _poison(name, getattr(BazaarAdapter, name))


def _poison(name: str, read: Any) -> None:
    def stub(adapter: BazaarAdapter, response: Any) -> Any:
        if b"poison" in response.body:
            backtrack()
        return read(adapter, response)

    setattr(BazaarAdapter, name, stub)


def scripted_adapter(monkeypatch: pytest.MonkeyPatch) -> Adapter:
    """Register the adapter for one test."""
    monkeypatch.setattr(adapters, "REGISTERED", {**adapters.REGISTERED, **SCRIPTED})
    return adapters.get("scripted")


def shorten_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages that no crawl reads fail soon."""
    monkeypatch.setattr("pricewatch.reading.reader_pool.read_limits", lambda _: ReadLimits(seconds=0.3))
