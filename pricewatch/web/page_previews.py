"""Previews of a page: fetched by `scrapy preview` in a process of its own, under all the rules of a crawl."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import threading
from collections import OrderedDict
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scrapy.http import HtmlResponse
from scrapy.utils.conf import closest_scrapy_cfg

from pricewatch import adapters
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter
from pricewatch.adapters.offer_check import judge
from pricewatch.errors import UserError
from pricewatch.items import ExtractFailure, Offer, Quarantine
from pricewatch.runs.target_report import LookResult, result_of
from pricewatch.store.engine.json_safe import json_safe

SECONDS = 90
MOST_KEPT = 12


@dataclass(slots=True)
class Preview:
    url: str
    result: dict[str, Any]
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    adapter_id: str = ""
    page: str = ""


class Previews:
    """The last few, so that selectors are tried on a page without fetching it again."""

    def __init__(self, at_once: int):
        self._slots = threading.BoundedSemaphore(at_once)
        self._kept: OrderedDict[str, Preview] = OrderedDict()
        self._lock = threading.Lock()

    def fetch(self, url: str, selectors: dict[str, str]) -> Preview:
        if not self._slots.acquire(timeout=5):
            raise UserError("Other previews are under way: try again in a moment.")
        try:
            told = _run(url, selectors)
        finally:
            self._slots.release()
        if "error" in told:
            raise UserError(str(told["error"]))
        preview = Preview(url, told, adapter_id=told.pop("adapter_id", ""), page=told.pop("page", ""))
        with self._lock:
            self._kept[preview.id] = preview
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return preview

    def get(self, preview_id: str) -> Preview | None:
        with self._lock:
            return self._kept.get(preview_id)

    def try_selectors(self, preview: Preview, selectors: dict[str, str]) -> Preview:
        """What the kept page says where a person points."""
        adapter = CustomSelectorAdapter(adapters.get(preview.adapter_id or "generic"), selectors)
        read = adapter.extract(HtmlResponse(preview.url, body=preview.page.encode(), encoding="utf-8"))
        known = preview.result.get("known") or {}
        if isinstance(read, ExtractFailure):
            result = LookResult(
                preview.url, "failed", read.reason, read.details, evidence=read.evidence, known=known
            )
        elif isinstance(read, Quarantine) and read.offer is None:
            evidence = [str(line) for line in read.details.get("evidence", [])]
            result = LookResult(preview.url, "quarantine", read.reason, evidence=evidence, known=known)
        else:
            offer: Offer = read.offer  # type: ignore[assignment]  # the case without one is above
            evidence = [] if isinstance(read, Quarantine) else read.evidence
            held = read if isinstance(read, Quarantine) else None
            result = result_of(preview.url, offer, judge(offer, adapter, held), evidence, known)
        return Preview(preview.url, json_safe(asdict(result)), preview.id, preview.adapter_id, preview.page)


def _run(url: str, selectors: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "scrapy", "preview", "--json"]
    if selectors:
        command.append(f"--selectors={json.dumps(selectors)}")
    configuration = closest_scrapy_cfg()
    directory = Path(configuration).parent if configuration else Path.cwd()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "SCRAPY_SETTINGS_MODULE": "pricewatch.settings",
    }
    try:
        done = subprocess.run(
            [*command, url],
            cwd=directory,
            env=environment,
            capture_output=True,
            timeout=SECONDS,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"The page could not be fetched within {SECONDS} seconds.") from None
    line = (done.stdout.strip().splitlines() or [""])[-1]
    try:
        told: dict[str, Any] = json.loads(line)
    except ValueError:
        why = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        raise UserError(f"The page could not be looked at: {why[:300]}") from None
    return told
