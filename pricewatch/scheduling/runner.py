"""Runs one command of a project: the deployed version if there is an egg, else the daemon's own checkout.

Started by path, with nothing of pricewatch imported yet, so that what an egg brings is what is used.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
DAEMON = "PRICEWATCH_DAEMON"
EGG = "PRICEWATCH_EGG"


def main() -> None:
    stand_alone()
    end_with(os.environ.pop(DAEMON, None))
    if egg := os.environ.pop(EGG, None):
        # First of all, before the checkout that the daemon itself may run from.
        sys.path.insert(0, egg)
        from scrapyd.runner import activate_egg

        os.environ.pop("SCRAPY_SETTINGS_MODULE", None)
        activate_egg(egg)
    from scrapy.cmdline import execute

    execute()


def stand_alone() -> None:
    """Ctrl-C in the daemon's terminal is for the daemon, which lets its spiders end in order."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)


def end_with(daemon: str | None) -> None:
    """When the daemon dies, however it does, this process is told to stop: nobody else would."""
    if daemon is None or not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(daemon):
        sys.exit("The daemon is gone.")


if __name__ == "__main__":
    main()
