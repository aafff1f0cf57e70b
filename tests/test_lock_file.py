"""Policy: requirements.lock pins what requirements.txt asks for, with hashes, from no particular index."""

from __future__ import annotations

import re

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
LOCK = (ROOT / "requirements.lock").read_text()
# One entry per package: the requirement, then its hashes, on continued lines.
ENTRIES = [
    entry.split(" \\\n")
    for entry in re.split(r"\n(?=\S)", "\n".join(line for line in LOCK.splitlines() if line[:1] != "#"))
]
REQUIRED = [
    Requirement(line.partition("#")[0].strip())
    for line in (ROOT / "requirements.txt").read_text().splitlines()
    if line.partition("#")[0].strip()
]


def locked(name: str) -> list[Requirement]:
    pins = [Requirement(entry[0]) for entry in ENTRIES]
    return [pin for pin in pins if canonicalize_name(pin.name) == canonicalize_name(name)]


@pytest.mark.parametrize("required", REQUIRED, ids=lambda required: required.name)
def test_every_required_package_is_pinned_to_a_version_that_satisfies_it(required: Requirement) -> None:
    pins = locked(required.name)
    assert pins, f"{required.name} is missing: run `make lock`"
    for pin in pins:
        (pinned,) = pin.specifier
        assert pinned.operator == "=="
        assert required.specifier.contains(pinned.version), f"{pin} is not {required}: run `make lock`"


def test_every_package_has_hashes_of_several_files() -> None:
    for requirement, *hashes in ENTRIES:
        assert hashes, requirement
        assert all(HASH.fullmatch(line.strip()) for line in hashes), requirement
    # Those of other platforms too, not only of the machine that made the file.
    (compiled,) = [hashes for requirement, *hashes in ENTRIES if requirement.startswith("lxml==")]
    assert len(compiled) > 20


def test_the_lock_file_names_no_index_and_no_path() -> None:
    assert not re.search(r"://|index-url|find-links|\s@\s|\s-e\s|^\s*/", LOCK, re.MULTILINE)
