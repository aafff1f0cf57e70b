"""A temporary directory with its own PostgreSQL for a benchmark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pricewatch.store.engine import database, embedded_postgres


@contextmanager
def temporary_database() -> Iterator[Path]:
    """Set PRICEWATCH_VAR to a temporary directory; stop its server and remove it at the end."""
    names = ("DATABASE_URL", "PRICEWATCH_VAR")
    before = {name: os.environ.pop(name, None) for name in names}
    with TemporaryDirectory(prefix="pw", ignore_cleanup_errors=True) as name:
        directory = Path(name).resolve()
        os.environ["PRICEWATCH_VAR"] = str(directory)
        database.engine.cache_clear()
        try:
            yield directory
        finally:
            if database.engine.cache_info().currsize:
                database.engine().dispose()
            database.engine.cache_clear()
            embedded_postgres.stop_server(directory)
            embedded_postgres.remove_linked_data(directory)
            for variable, value in before.items():
                os.environ.pop(variable, None)
                if value is not None:
                    os.environ[variable] = value
