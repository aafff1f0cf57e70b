"""Runs one scrapy command of a project: from the deployed egg if there is one, else from the checkout.

The daemon starts it by path, before anything of pricewatch is imported, so that imports come from the egg.
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
    leave_process_group()
    terminate_with_daemon(os.environ.pop(DAEMON, None))
    if egg := os.environ.pop(EGG, None):
        # Before the checkout that the daemon itself may run from.
        sys.path.insert(0, egg)
        from scrapyd.runner import activate_egg

        os.environ.pop("SCRAPY_SETTINGS_MODULE", None)
        activate_egg(egg)
    from scrapy.cmdline import execute

    execute()


def leave_process_group() -> None:
    """Keep Ctrl-C in the daemon's terminal from the spider: the daemon stops its spiders itself."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)


def terminate_with_daemon(daemon: str | None) -> None:
    """Ask the kernel to send SIGTERM to this process when the daemon dies, even by SIGKILL."""
    if daemon is None or not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(daemon):
        sys.exit("The daemon has ended.")


if __name__ == "__main__":
    main()
