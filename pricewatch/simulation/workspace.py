"""A temporary directory for a simulation, with its database; always removed afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError
from pricewatch.store.engine import embedded_postgres
from pricewatch.store.engine.database import engine

END_SECONDS = 10.0
# Removed from the environment: the workspace has its own database and rate limits.
UNSET_VARIABLES = ("DATABASE_URL", "REDIS_URL")


@contextmanager
def temporary_workspace(*, keep: bool = False) -> Iterator[Path]:
    """Create the directory and set PRICEWATCH_VAR to it; end all its processes and remove it at the end."""
    directory = Path(tempfile.mkdtemp(prefix="pricewatch-")).resolve()
    os.environ["PRICEWATCH_VAR"] = str(directory)
    for name in UNSET_VARIABLES:
        os.environ.pop(name, None)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield directory
    finally:
        if engine.cache_info().currsize:
            engine().dispose()
        engine.cache_clear()
        embedded_postgres.stop_server(directory)
        if keep:
            print_message(f"The files are kept in {directory}.")
        else:
            _end(_processes_in(directory))
            embedded_postgres.remove_linked_data(directory)
            _remove(directory)


def _processes_in(directory: Path) -> list[psutil.Process]:
    """Return the other processes whose PRICEWATCH_VAR is this directory."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("PRICEWATCH_VAR") == str(directory) and process.pid != os.getpid():
                found.append(process)
    return found


def _end(processes: list[psutil.Process]) -> None:
    """End processes such as initdb, which continues if the simulation is stopped while it runs."""
    for process in processes:
        with suppress(psutil.Error):
            process.terminate()
    _, left = psutil.wait_procs(processes, timeout=END_SECONDS)
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=END_SECONDS)


def _remove(directory: Path) -> None:
    deadline = time.monotonic() + END_SECONDS
    while directory.exists():
        try:
            shutil.rmtree(directory)
        except OSError as error:
            if time.monotonic() > deadline:
                raise UserError(f"{directory} could not be removed: {error.strerror or error}.") from None
            time.sleep(0.1)
