"""Simultaneous crawls in several processes: `python -m tests.fetching.parallel_crawls`.

They are forked from a process that has imported everything, because imports take longer than the crawls. It
reads a job as one line of JSON, prints the ids of the processes when they are ready, starts them when it
reads another line, and prints their results.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import pricewatch.middlewares
from tests.fetching import fetch_process


def crawl(job: dict[str, Any], start: int, ready: int, result: Path) -> None:
    """Prepare, wait for the start and crawl, in the child process."""
    # The spider prints "ready" to stdout and waits for a line on stdin.
    os.dup2(start, 0)
    os.dup2(ready, 1)
    crawler = fetch_process.crawl(job)
    result.write_text(json.dumps(fetch_process.result(crawler)))


def main() -> None:
    job = json.loads(sys.stdin.readline())
    # A limit, in case a child never ends.
    signal.alarm(60)
    for module in pkgutil.iter_modules(pricewatch.middlewares.__path__, "pricewatch.middlewares."):
        if "browser" not in module.name:
            importlib.import_module(module.name)
    ready_from, ready_to = os.pipe()
    starts, children = [], {}
    for number in range(job["processes"]):
        start_from, start_to = os.pipe()
        result = Path(job["directory"]) / f"{number}.json"
        pid = os.fork()
        if pid == 0:
            try:
                crawl(job, start_from, ready_to, result)
            except BaseException:  # noqa: BLE001 - a child must never run on into the parent's code
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(start_from)
        starts.append(start_to)
        children[pid] = result
    output = b""
    while output.count(b"ready") < len(children):
        output += os.read(ready_from, 1000)
    print(json.dumps(list(children)), flush=True)
    sys.stdin.readline()
    for start in starts:
        os.write(start, b"start\n")
    for pid in children:
        os.waitpid(pid, 0)
    results = [json.loads(result.read_text()) for result in children.values() if result.exists()]
    print(json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
