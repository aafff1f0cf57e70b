"""Files that only the user who runs pricewatch can read: `var/` has mode 0700, and files in it have 0600.

When root runs the embedded PostgreSQL, its user must pass through `var/`: the group of `var/` is then that of
the user, and the mode is 0710, which allows the group to open paths inside and not to list them.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

# Marks a directory as pricewatch's own. Only the permissions of such directories are ever changed.
MARKER = ".pricewatch"
# What directories of versions without the marker contain.
KNOWN_CONTENT = ("postgres.users", "postgres/PG_VERSION", "scrapyd")


def private_directory(directory: Path) -> Path:
    """Create a directory for this user only; close an existing one if it is pricewatch's own."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_own(directory) and _is_empty_or_known(directory):
        open_private(directory / MARKER).close()
    if is_own(directory):
        status = directory.stat()
        if stat.S_IMODE(status.st_mode) != 0o700 and not _is_open_to_server(status):
            directory.chmod(0o700)
    return directory


def is_own(directory: Path) -> bool:
    return (directory / MARKER).exists() and directory.stat().st_uid == os.geteuid()


def open_to_group(directory: Path, group: int) -> None:
    """Let a group pass through pricewatch's own directories: this one, and those that it is in."""
    for place in (directory, *directory.parents):
        if not is_own(place):
            return
        os.chown(place, -1, group)
        place.chmod(0o710)


def close_files(directory: Path) -> None:
    """Remove the permissions of other users from everything below a directory."""
    for folder, folders, files in os.walk(directory):
        for name in (*folders, *files):
            path = Path(folder) / name
            # Another process may remove old logs.
            with suppress(FileNotFoundError):
                mode = path.lstat().st_mode
                if not stat.S_ISLNK(mode) and mode & 0o077:
                    path.chmod(stat.S_IMODE(mode) & 0o700)


def open_private(path: Path) -> IO[str]:
    """Open a file for appending that only its owner can read."""
    return os.fdopen(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "a")


def _is_empty_or_known(directory: Path) -> bool:
    status = directory.stat()
    # A directory with the sticky bit, such as /tmp, is shared.
    if status.st_uid != os.geteuid() or status.st_mode & stat.S_ISVTX:
        return False
    is_empty = next(directory.iterdir(), None) is None
    return is_empty or any((directory / name).exists() for name in KNOWN_CONTENT)


def _is_open_to_server(status: os.stat_result) -> bool:
    return os.geteuid() == 0 and status.st_gid != 0 and stat.S_IMODE(status.st_mode) == 0o710
