"""Runs one scrapy command of a project: from the deployed egg if there is one, else from the checkout.

The daemon starts it by path, before anything of pricewatch is imported, so that imports come from the egg.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import signal
import sys
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
DAEMON = "PRICEWATCH_DAEMON"
EGG = "PRICEWATCH_EGG"
LOG_BYTES = "PRICEWATCH_LOG_BYTES"
PACKAGE = Path(__file__).parents[1]


def main() -> None:
    leave_process_group()
    terminate_with_daemon(os.environ.pop(DAEMON, None))
    if log_bytes := os.environ.pop(LOG_BYTES, None):
        limit_log(int(log_bytes))
    if egg := os.environ.pop(EGG, None):
        # Before the checkout that the daemon itself may run from.
        sys.path.insert(0, egg)
        from scrapyd.runner import activate_egg

        os.environ.pop("SCRAPY_SETTINGS_MODULE", None)
        activate_egg(egg)
    from scrapy.cmdline import execute

    execute()


def limit_log(max_bytes: int) -> None:
    """Bound the log of this job, whatever project it belongs to, and keep secrets out of it."""
    redaction = load_from_daemon("redaction.py")
    redact = redaction.Redactor(redaction.secrets_in())
    load_from_daemon("scheduling/job_log.py").limit_log_files(max_bytes, redact)


def load_from_daemon(path: str) -> Any:
    """Load a file of the daemon's own version, under a name that does not stop imports from the egg."""
    spec = importlib.util.spec_from_file_location(f"daemon_{Path(path).stem}", PACKAGE / path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
