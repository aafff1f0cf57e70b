"""Previews of a page, fetched by `scrapy preview` in a separate process, under all the rules of a crawl."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import threading
from collections import OrderedDict
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from scrapy.http import HtmlResponse
from scrapy.utils.conf import closest_scrapy_cfg

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter
from pricewatch.adapters.offer_check import check_offer
from pricewatch.errors import UserError
from pricewatch.items import ExtractFailure, Offer, Quarantine
from pricewatch.reading.deadline import ReadTimeout
from pricewatch.reading.page_calls import EXTRACT, Extraction
from pricewatch.reading.page_task import adapter_task
from pricewatch.reading.reader_pool import project_pool
from pricewatch.reading.reader_process import AdapterError
from pricewatch.rules.access.child_environment import preview_environment
from pricewatch.runs.target_report import CheckResult, result_of
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.vocabulary import FailureReason

TIMEOUT_SECONDS = 90
MAX_CACHED = 12


@dataclass(slots=True)
class Preview:
    url: str
    result: dict[str, Any]
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    adapter_id: str = ""
    page: str = ""
    # The place of the price that the adapter was given.
    price_place: str = ""


class Previews:
    """A cache of the latest previews, so that selectors can be tried without fetching the page again."""

    def __init__(self, at_once: int):
        self._slots = threading.BoundedSemaphore(at_once)
        self._cache: OrderedDict[str, Preview] = OrderedDict()
        self._lock = threading.Lock()

    def fetch(self, url: str, selectors: dict[str, str]) -> Preview:
        if not self._slots.acquire(timeout=5):
            raise UserError("Too many previews are running: try again in a moment.")
        try:
            result = _run(url, selectors)
        finally:
            self._slots.release()
        if "error" in result:
            raise UserError(str(result["error"]))
        read = {name: result.pop(name, "") for name in ("adapter_id", "page", "price_place")}
        preview = Preview(url, result, **read)
        with self._lock:
            self._cache[preview.id] = preview
            while len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)
        return preview

    def get(self, preview_id: str) -> Preview | None:
        with self._lock:
            return self._cache.get(preview_id)

    def try_selectors(self, preview: Preview, selectors: dict[str, str]) -> Preview:
        """Read the cached page with these selectors."""
        inner = adapters.get(preview.adapter_id or "generic").with_price_place(preview.price_place)
        adapter = CustomSelectorAdapter(inner, selectors)
        extracted = _extract(adapter, preview)
        known = preview.result.get("known") or {}
        if isinstance(extracted, ExtractFailure):
            result = CheckResult(
                preview.url,
                "failed",
                extracted.reason,
                extracted.details,
                evidence=extracted.evidence,
                known=known,
            )
        elif isinstance(extracted, Quarantine) and extracted.offer is None:
            evidence = [str(line) for line in extracted.details.get("evidence", [])]
            result = CheckResult(preview.url, "quarantine", extracted.reason, evidence=evidence, known=known)
        else:
            offer: Offer = extracted.offer  # type: ignore[assignment]  # the case without one is above
            quarantine = extracted if isinstance(extracted, Quarantine) else None
            evidence = [] if isinstance(extracted, Quarantine) else extracted.evidence
            result = result_of(preview.url, offer, check_offer(offer, adapter, quarantine), evidence, known)
        return replace(preview, result=json_safe(asdict(result)))


def _extract(adapter: Adapter, preview: Preview) -> Extraction:
    page = preview.page.encode("utf-8", "replace")
    response = HtmlResponse(preview.url, body=page, encoding="utf-8")
    try:
        return project_pool().read(adapter_task(EXTRACT, adapter, response))
    except ReadTimeout as timeout:
        return ExtractFailure(FailureReason.READ_TIMEOUT, str(timeout))
    except AdapterError as error:
        return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, str(error))


def _run(url: str, selectors: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "scrapy", "preview", "--json"]
    if selectors:
        command.append(f"--selectors={json.dumps(selectors)}")
    configuration = closest_scrapy_cfg()
    directory = Path(configuration).parent if configuration else Path.cwd()
    environment = {
        **preview_environment(os.environ),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "SCRAPY_SETTINGS_MODULE": "pricewatch.settings",
    }
    try:
        done = subprocess.run(
            [*command, url],
            cwd=directory,
            env=environment,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"The page could not be fetched within {TIMEOUT_SECONDS} seconds.") from None
    line = (done.stdout.strip().splitlines() or [""])[-1]
    try:
        result: dict[str, Any] = json.loads(line)
    except ValueError:
        reason = (done.stderr.strip().splitlines() or ["no error message"])[-1]
        raise UserError(f"The preview failed: {reason[:300]}") from None
    return result
