"""PostgreSQL without set-up: a server inside `var/` that runs as long as a process uses it.

Every process that uses the server holds a shared lock on one file. A small supervisor process waits for the
exclusive lock, which it gets when the last user has exited or was killed, and then stops the server.

The server listens on no address, only on a socket in its data directory. That directory has mode 0700 and the
socket too, so that only the user who runs pricewatch (and root) can connect.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from pricewatch.errors import DatabaseUnavailable
from pricewatch.redaction import without_secrets
from pricewatch.store.engine import postgres_account
from pricewatch.store.engine.postgres_account import run_postgres, server_user
from pricewatch.store.engine.private_files import open_private, private_directory

START_TIMEOUT = 60.0
PG_CTL_TIMEOUT = 10.0
SOCKET = ".s.PGSQL.5432"
# The longest path of a Unix socket, in bytes.
MAX_SOCKET_PATH = 103 if sys.platform == "darwin" else 107
# The log has only fatal errors; it is moved aside at a start when it is larger than this.
MAX_LOG_BYTES = 10 * 2**20
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
# The beginning of the names of data directories in SYSTEM_DIRECTORY.
SYSTEM_DATA = "data."
# Not renamed, because processes of older versions may be using it.
SUPERVISOR_LOCK = "postgres.keeper"
logger = logging.getLogger(__name__)

# The shared locks of this process.
_user_locks: dict[Path, IO[str]] = {}


def database_url(directory: Path) -> str:
    """Start the server of this directory if necessary, and keep it running while this process lives."""
    directory = directory.resolve()
    try:
        private_directory(directory)
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
    deadline = time.monotonic() + START_TIMEOUT
    while True:
        try:
            if not (directory / "postgres" / "PG_VERSION").exists():
                _initialise(directory)
            data = data_directory(directory)
            _remove_stale_pid_file(data)
            if not (data / "postmaster.pid").exists():
                _start_server(directory, data)
            return _url(data)
        except (subprocess.SubprocessError, FileNotFoundError) as error:
            # After a crash, replaying the log may take longer than pg_ctl waits.
            if time.monotonic() > deadline:
                data = directory / "postgres"
                raise DatabaseUnavailable(
                    f"The embedded PostgreSQL in {data} does not start ({_first_line(error)}): see its log "
                    f"{data / 'log'}, or set DATABASE_URL to use another server."
                ) from error
            time.sleep(0.5)


def data_directory(directory: Path) -> Path:
    """Return the data directory; `postgres` is a link if root cannot have the server in `directory`."""
    return (directory / "postgres").resolve()


def _initialise(directory: Path) -> None:
    """Create the data directory under another name, so that an interrupted attempt is never used."""
    for unfinished in directory.glob(f"{UNFINISHED}*"):
        _remove(unfinished)
    user = server_user()
    home = postgres_account.new_home(directory, user)
    if home == directory:
        _check_socket_path(directory / "postgres")
        made = created = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=directory))
    else:
        created = Path(tempfile.mkdtemp(prefix=SYSTEM_DATA, dir=home))
        made = directory / f"{UNFINISHED}{created.name}"
        made.symlink_to(created)
    user.own(created)
    authentication = ("--auth-local=trust", "--auth-host=reject")
    options = ("--encoding=utf8", "-U", "postgres", "-D", str(created))
    run_postgres(home, user, "initdb", *authentication, *options)
    with (created / "postgresql.conf").open("a") as configuration:
        configuration.write(SERVER_SETTINGS)
    made.rename(directory / "postgres")


def _remove(data: Path) -> None:
    """Remove a data directory, or a link to one; what is behind it only if pricewatch created that."""
    if not data.is_symlink():
        shutil.rmtree(data, ignore_errors=True)
        return
    target = data.resolve()
    if target.is_relative_to(postgres_account.SYSTEM_DIRECTORY) and target.name.startswith(SYSTEM_DATA):
        shutil.rmtree(target, ignore_errors=True)
    data.unlink()


def _start_server(directory: Path, data: Path) -> None:
    user = server_user()
    postgres_account.check_access(directory, data, user)
    _check_socket_path(data)
    log = data / "log"
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.rename(data / "log.old")
    # pg_ctl passes these options to a shell; the directory is quoted for PostgreSQL as well.
    socket_directory = shlex.quote(f'"{data}"')
    options = f"-c listen_addresses= -c unix_socket_permissions=0700 -k {socket_directory}"
    pg_ctl(directory, "start", "-o", options, timeout=PG_CTL_TIMEOUT)


def _check_socket_path(data: Path) -> None:
    length = len(os.fsencode(data / SOCKET))
    if length > MAX_SOCKET_PATH:
        raise DatabaseUnavailable(
            f"The path of the embedded database is too long for a socket ({length} bytes, at most "
            f"{MAX_SOCKET_PATH}): {data}. Set PRICEWATCH_VAR to a directory with a shorter path, or set "
            "DATABASE_URL to use another PostgreSQL server."
        )


def _url(data: Path) -> str:
    """Return the URL of the running server; raises SubprocessError while it starts or stops."""
    # The library refuses a file that the server has not completely written.
    with contextlib.suppress(AssertionError):
        server = postgres_account.package().PostmasterInfo.read_from_pgdata(data)
        if server is not None and server.is_running() and server.status == "ready":
            return f"postgresql://postgres:@/postgres?host={quote(str(server.socket_dir))}"
    raise subprocess.SubprocessError("it is starting or stopping")


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
            env={**without_secrets(), "PYTHONPATH": os.pathsep.join(path)},
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


def remove_linked_data(directory: Path) -> None:
    """Remove the data that is outside a directory which is about to be removed; its server has stopped."""
    for data in (directory / "postgres", *directory.glob(f"{UNFINISHED}*")):
        if data.is_symlink():
            _remove(data)


def pg_ctl(directory: Path, *arguments: str, timeout: float = START_TIMEOUT) -> None:
    """Run `pg_ctl` for the server, for example to stop or restart it."""
    data, user = data_directory(directory), server_user()
    # A server that an older version started may still run, in a directory that was open to everyone.
    user.open(directory)
    # A copy of the programs is next to the data.
    options = ("-w", "-D", str(data), "-l", str(data / "log"))
    run_postgres(data.parent, user, "pg_ctl", *options, *arguments, timeout=timeout)


def _lock(path: Path, kind: int) -> IO[str]:
    handle = open_private(path)
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
