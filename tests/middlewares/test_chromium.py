"""Which Chromium is taken, and how one is installed; small scripts stand for the programs of the system."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pricewatch.fetching.browser import chromium
from pricewatch.fetching.browser.chromium import Chromium, find_chromium, install_chromium, working_chromium
from pricewatch.fetching.failures import NoBrowser

WORKS = "#!/bin/sh\necho Chromium 156.0\n"
LACKS_A_LIBRARY = "#!/bin/sh\necho 'error while loading shared libraries: libnss3.so' >&2\nexit 127\n"


class Machine:
    """A machine with nothing but what a test puts on it."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.programs = directory / "bin"
        self.programs.mkdir()
        self.downloaded = directory / "ms-playwright" / "chrome"
        self.downloaded.parent.mkdir()
        self.done = directory / "done"
        monkeypatch.setenv("PATH", str(self.programs))
        monkeypatch.setattr(chromium, "PLAYWRIGHT_PATH", f"print({str(self.downloaded)!r})")
        monkeypatch.setattr("os.geteuid", lambda: 0)
        monkeypatch.setattr("sys.executable", str(self.program("python", f'exec {sys.executable} "$@"\n')))
        self.playwright_fails()

    def program(self, name: str, body: str) -> Path:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{body}")
        path.chmod(0o755)
        return path

    def playwright_fails(self) -> None:
        self._playwright("echo 'Error: getaddrinfo ENOTFOUND' >&2; exit 1")

    def playwright_brings(self, executable: str) -> None:
        lines = executable.replace("\n", "\\n").replace("'", '"')
        self._playwright(f"printf '{lines}' > {self.downloaded}; /bin/chmod +x {self.downloaded}; exit 0")

    def _playwright(self, steps: str) -> None:
        self.program(
            "python",
            f'if [ "$2" = playwright ]; then echo playwright >> {self.done}; {steps}; fi\n'
            f'exec {REAL_PYTHON} "$@"\n',
        )

    def apt_brings(self, package: str) -> None:
        """Knows this package, and no other."""
        self.program(
            "apt-get",
            f'echo "apt-get $*" >> {self.done}\ncase "$*" in update*) exit 0;; *" {package} "*) ;;\n'
            f"*) echo 'E: Unable to locate package' >&2; exit 100;; esac\n"
            f"printf '{WORKS}' > {self.programs / package}; /bin/chmod +x {self.programs / package}\n",
        )

    def steps(self) -> list[str]:
        return self.done.read_text().splitlines() if self.done.exists() else []


REAL_PYTHON = sys.executable


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_the_configured_one_comes_first(machine: Machine, tmp_path: Path) -> None:
    machine.program("chromium", WORKS)
    mine = tmp_path / "mine"
    mine.touch()
    assert find_chromium(str(mine)) == Chromium(str(mine), "from CHROMIUM_PATH")
    mine.unlink()
    for look in (find_chromium, install_chromium):
        with pytest.raises(NoBrowser, match="that file does not exist"):
            look(str(mine))
    assert machine.steps() == []


def test_then_one_on_the_path_and_then_playwrights_own(machine: Machine) -> None:
    with pytest.raises(NoBrowser, match="scrapy browser --install"):
        find_chromium()
    machine.downloaded.touch()
    assert find_chromium() == Chromium(str(machine.downloaded), "downloaded by playwright")
    path = machine.program("google-chrome", WORKS)
    assert find_chromium() == Chromium(str(path), "found on PATH")
    assert install_chromium().path == str(path)
    assert machine.steps() == []


def test_playwrights_installer_is_tried_before_the_package(machine: Machine) -> None:
    machine.apt_brings("chromium")
    machine.playwright_brings(WORKS)
    assert install_chromium() == Chromium(str(machine.downloaded), "downloaded by playwright")
    assert machine.steps() == ["playwright"]


@pytest.mark.parametrize("package", ["chromium", "chromium-browser"])
def test_the_package_where_nothing_can_be_downloaded(machine: Machine, package: str) -> None:
    machine.apt_brings(package)
    told: list[str] = []
    found = install_chromium(tell=told.append)
    assert (found.path, found.origin.split()[-1]) == (str(machine.programs / package), package)
    assert len(told) == 2
    assert [step.split()[1] for step in machine.steps()[1:3]] == ["update", "install"]


def test_what_was_downloaded_and_does_not_start_is_not_enough(machine: Machine) -> None:
    machine.playwright_brings(LACKS_A_LIBRARY)
    machine.apt_brings("chromium")
    assert install_chromium().path == str(machine.programs / "chromium")


def test_one_that_does_not_start_is_none(machine: Machine) -> None:
    machine.program("chromium", "echo 'snap install chromium' >&2; exit 1\n")
    with pytest.raises(NoBrowser, match=r"does not start \(snap install chromium\)"):
        working_chromium()


def test_every_reason_is_given_where_none_can_be_had(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NoBrowser, match=r"\(Error: getaddrinfo ENOTFOUND\); this system has no apt-get"):
        install_chromium()
    machine.apt_brings("firefox")
    with pytest.raises(NoBrowser, match=r"package could not be installed \(E: Unable to locate package\)"):
        install_chromium()
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(NoBrowser, match="needs root: `sudo apt install chromium`"):
        install_chromium()
