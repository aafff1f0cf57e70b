"""Directories of pricewatch are closed to other users; other directories are left alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pricewatch.store.engine.private_files import close_files, open_private, open_to_group, private_directory


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("content", [None, "postgres.users", "postgres/PG_VERSION", "scrapyd/logs/x.log"])
def test_a_directory_of_pricewatch_is_closed_to_others(tmp_path: Path, content: str | None) -> None:
    var = tmp_path / "var"
    var.mkdir()
    if content:
        (var / content).parent.mkdir(parents=True, exist_ok=True)
        (var / content).touch()
    var.chmod(0o755)
    assert mode(private_directory(var)) == 0o700


def test_a_new_directory_is_closed_to_others_from_the_start(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    var = private_directory(tmp_path / "new" / "var")
    assert mode(var) == 0o700
    var.chmod(0o755)
    assert mode(private_directory(var)) == 0o700
    assert mode(tmp_path) == 0o755


@pytest.mark.parametrize("bits", [0o755, 0o1777])
def test_a_directory_with_files_of_others_is_left_alone(tmp_path: Path, bits: int) -> None:
    if bits == 0o755:
        (tmp_path / "letter.txt").touch()
    tmp_path.chmod(bits)
    private_directory(tmp_path)
    open_to_group(tmp_path, os.getgid())
    assert mode(tmp_path) == bits


def test_files_are_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs").chmod(0o755)
    (tmp_path / "logs" / "job.log").touch()
    (tmp_path / "logs" / "job.log").chmod(0o644)
    (tmp_path / "outside").symlink_to("/")
    outside = mode(Path("/"))
    close_files(tmp_path)
    open_private(tmp_path / "new").close()
    assert mode(tmp_path / "logs") == 0o700
    assert mode(tmp_path / "logs" / "job.log") == 0o600
    assert mode(tmp_path / "new") == 0o600
    assert mode(Path("/")) == outside
