"""A replacement for scrapy with fake spiders that sleep, fail or ignore signals, as a test needs.

Each writes a file, named after its job and process, when it begins and when it is done.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from pricewatch.scheduling import runner

SPIDERS = ("quick", "failing", "slow", "stubborn", "noisy")
# A project whose spiders cannot be listed.
BROKEN_PROJECT = "broken"


def main() -> int:
    if sys.argv[1] == "list":
        if os.environ.get("SCRAPY_PROJECT") == BROKEN_PROJECT:
            sys.exit("This project has no spiders.")
        print("\n".join(SPIDERS))
        return 0
    runner.leave_process_group()
    spider = sys.argv[2]
    arguments = dict(
        pair.split("=", 1) for flag, pair in zip(sys.argv, sys.argv[1:], strict=False) if flag == "-a"
    )
    if spider == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    runner.terminate_with_daemon(os.environ.pop(runner.DAEMON, None))
    mark(arguments, "began")
    time.sleep(float(arguments.get("seconds", 0)))
    if spider == "noisy":
        for _ in range(100):
            print("noise " * 2000, file=sys.stderr)
        print("last words " * 200, file=sys.stderr)
        return 3
    if spider == "failing":
        print("pricewatch: This spider always fails.", file=sys.stderr)
        return 3
    mark(arguments, "done")
    return 0


def mark(arguments: dict[str, str], event: str) -> None:
    """Write the file under another name first: a test must not find it empty."""
    written = Path(os.environ["MARKS"], f"{os.getpid()}.part")
    written.write_text(os.environ["PRICEWATCH_NODE"])
    written.rename(written.with_name(f"{arguments['_job']}.{os.getpid()}.{event}"))


if __name__ == "__main__":
    sys.exit(main())
