"""A replacement of scrapy for the soak benchmark, which only writes a log file."""

from __future__ import annotations

import sys
from pathlib import Path

LOG_BYTES = 10_000


def main() -> None:
    if sys.argv[1] == "list":
        print("quick")
        return
    settings = (word for flag, word in zip(sys.argv, sys.argv[1:], strict=False) if flag == "-s")
    for setting in settings:
        name, _, value = setting.partition("=")
        if name == "LOG_FILE":
            Path(value).write_text("x" * LOG_BYTES)


if __name__ == "__main__":
    main()
