"""The daemon's log: without secrets, with bounded lines, and in files of which only the newest are kept."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from twisted.logger import FileLogObserver, ILogObserver, formatEventAsClassicLogText
from twisted.python.logfile import LogFile

from pricewatch.redaction import Redactor, secrets_in
from pricewatch.scheduling.job_log import cut

FILE_BYTES = 10 * 2**20
OLD_FILES = 4
_redactor = Redactor(())


def hide_secrets(configured: Iterable[str]) -> None:
    """Hide the secrets in the environment, and those of the daemon's configuration, from now on."""
    global _redactor
    _redactor = Redactor([*secrets_in(), *configured])


def redact(text: str) -> str:
    return _redactor(text)


def set_log(daemon: Any, arguments: list[str]) -> None:
    """Set where the daemon logs to: standard output, or the file that the command line of scrapyd names."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-l", "--logfile", default="-")
    parser.add_argument("--syslog", action="store_true")
    options, _ = parser.parse_known_args(arguments)
    if not options.syslog:
        output = sys.stdout if options.logfile == "-" else log_file(Path(options.logfile))
        daemon.setComponent(ILogObserver, FileLogObserver(output, format_event))


def log_file(path: Path) -> Any:
    return LogFile(
        path.name,
        str(path.parent),
        rotateLength=FILE_BYTES,
        maxRotatedFiles=OLD_FILES,
        defaultMode=0o600,
    )


def format_event(event: Any) -> str | None:
    text = formatEventAsClassicLogText(event)
    return text and cut(redact(text.rstrip("\n"))) + "\n"
