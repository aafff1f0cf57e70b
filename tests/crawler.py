"""A process that runs crawls one after another on request, which avoids the start-up time of each."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from datetime import timedelta
from typing import Any

from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings
from scrapy.utils.reactor import install_reactor


class Crawler:
    """Controls the crawling process from a test."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crawler"],
            env={**os.environ, "SCRAPY_SETTINGS_MODULE": "pricewatch.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(
        self,
        spider: str,
        /,
        database_url: str,
        ahead: timedelta = timedelta(),
        settings: dict[str, Any] | None = None,
        **arguments: Any,
    ) -> Any:
        """Crawl with a clock that is `ahead` of the real one; return the result of the run."""
        assert self._process.stdin
        assert self._process.stdout
        request = {
            "spider": spider,
            "arguments": {name: str(value) for name, value in arguments.items()},
            "settings": settings or {},
            "ahead": ahead.total_seconds(),
            "database_url": database_url,
        }
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the crawling process has died"
        return json.loads(answer)

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


async def _serve() -> None:
    from pricewatch import clock
    from pricewatch.store.engine import database

    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        request = json.loads(line)
        clock.move(timedelta(seconds=request["ahead"]))
        if os.environ.get("DATABASE_URL") != request["database_url"]:
            os.environ["DATABASE_URL"] = request["database_url"]
            database.engine.cache_clear()
        settings = get_project_settings()
        settings.setdict({"LOG_ENABLED": False, **request["settings"]}, priority="cmdline")
        print(json.dumps(await _crawl(settings, request["spider"], request["arguments"])), flush=True)


async def _crawl(settings: Settings, spider: str, arguments: dict[str, str]) -> dict[str, Any]:
    from pricewatch.runs.crawl_run import run_of

    runner = AsyncCrawlerRunner(settings)
    crawler = runner.create_crawler(spider)
    try:
        await runner.crawl(crawler, **arguments)
    except Exception as error:  # noqa: BLE001 - reported to the test
        return {"status": "error", "outcome": f"{type(error).__name__}: {error}"}
    run = run_of(crawler)
    return {
        "id": run.id,
        "status": run.status,
        "outcome": run.outcome,
        "counters": run.counters,
        "reasons": run.reasons,
        "progress": run.progress,
        "partial": run.partial,
        "pages": run.pages,
        "new": run.stored.new,
        "price_rows": run.stored.price_rows,
    }


def _main() -> None:
    from twisted.internet.defer import Deferred
    from twisted.internet.task import react

    react(lambda _: Deferred.fromFuture(asyncio.ensure_future(_serve())))


if __name__ == "__main__":
    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "pricewatch.settings")
    project = get_project_settings()
    install_reactor(project["TWISTED_REACTOR"], project["ASYNCIO_EVENT_LOOP"])
    _main()
