"""Stands in for scrapy: spiders that cost next to nothing and behave on order.

Each leaves a mark when it begins and when it has done its work, in a file named after its job and process.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from pricewatch.scheduling import runner

SPIDERS = ("quick", "failing", "patient", "stubborn")


def main() -> int:
    if sys.argv[1] == "list":
        print("\n".join(SPIDERS))
        return 0
    runner.stand_alone()
    spider = sys.argv[2]
    arguments = dict(
        word.split("=", 1) for flag, word in zip(sys.argv, sys.argv[1:], strict=False) if flag == "-a"
    )
    if spider == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    runner.end_with(os.environ.pop(runner.DAEMON, None))
    mark(arguments, "began")
    time.sleep(float(arguments.get("seconds", 0)))
    if spider == "failing":
        print("pricewatch: It was ordered to fail.", file=sys.stderr)
        return 3
    mark(arguments, "done")
    return 0


def mark(arguments: dict[str, str], what: str) -> None:
    directory = Path(os.environ["MARKS"])
    (directory / f"{arguments['_job']}.{os.getpid()}.{what}").write_text(os.environ["PRICEWATCH_NODE"])


if __name__ == "__main__":
    sys.exit(main())
