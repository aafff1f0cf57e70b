"""Several crawls at once, each a process of its own: `python -m tests.middlewares.crowd`.

They are forked from one process that has imported everything, because that takes longer than the crawls. The
order is one line of JSON; then it says who is ready, waits for a word, and tells how each crawl ended.
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
from tests.middlewares import visit


def crawl(order: dict[str, Any], go: int, ready: int, result: Path) -> None:
    """In the child: get ready, wait for the word, crawl."""
    # The spider tells that it is ready on stdout and reads the word from stdin.
    os.dup2(go, 0)
    os.dup2(ready, 1)
    crawler = visit.once(order)
    result.write_text(json.dumps(visit.result(crawler)))


def main() -> None:
    order = json.loads(sys.stdin.readline())
    # Whoever waits for a child that is no more must not wait for ever.
    signal.alarm(60)
    for module in pkgutil.iter_modules(pricewatch.middlewares.__path__, "pricewatch.middlewares."):
        if "browser" not in module.name:
            importlib.import_module(module.name)
    ready_from, ready_to = os.pipe()
    goes, children = [], {}
    for number in range(order["processes"]):
        go_from, go_to = os.pipe()
        result = Path(order["directory"]) / f"{number}.json"
        pid = os.fork()
        if pid == 0:
            try:
                crawl(order, go_from, ready_to, result)
            except BaseException:  # noqa: BLE001 - a child must never run on into the parent's code
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(go_from)
        goes.append(go_to)
        children[pid] = result
    said = b""
    while said.count(b"ready") < len(children):
        said += os.read(ready_from, 1000)
    print(json.dumps(list(children)), flush=True)
    sys.stdin.readline()
    for go in goes:
        os.write(go, b"go\n")
    for pid in children:
        os.waitpid(pid, 0)
    results = [json.loads(result.read_text()) for result in children.values() if result.exists()]
    print(json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
