"""Stands in for scrapy in the soak: does nothing but write a log, as a spider does."""

from __future__ import annotations

import sys
from pathlib import Path

LOG_BYTES = 10_000


def main() -> None:
    if sys.argv[1] == "list":
        print("quick")
        return
    given = (word for flag, word in zip(sys.argv, sys.argv[1:], strict=False) if flag == "-s")
    for setting in given:
        name, _, value = setting.partition("=")
        if name == "LOG_FILE":
            Path(value).write_text("x" * LOG_BYTES)


if __name__ == "__main__":
    main()
