"""How Chromium is found and installed; shell scripts replace the programs of the system."""

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
    """A machine with only the programs that a test adds."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.programs = directory / "bin"
        self.programs.mkdir()
        self.downloaded = directory / "ms-playwright" / "chrome"
        self.downloaded.parent.mkdir()
        self.log = directory / "done"
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

    def playwright_installs(self, executable: str) -> None:
        lines = executable.replace("\n", "\\n").replace("'", '"')
        self._playwright(f"printf '{lines}' > {self.downloaded}; /bin/chmod +x {self.downloaded}; exit 0")

    def _playwright(self, steps: str) -> None:
        self.program(
            "python",
            f'if [ "$2" = playwright ]; then echo playwright >> {self.log}; {steps}; fi\n'
            f'exec {REAL_PYTHON} "$@"\n',
        )

    def apt_installs(self, package: str) -> None:
        """Add an apt-get that can install only this package."""
        self.program(
            "apt-get",
            f'echo "apt-get $*" >> {self.log}\ncase "$*" in update*) exit 0;; *" {package} "*) ;;\n'
            f"*) echo 'E: Unable to locate package' >&2; exit 100;; esac\n"
            f"printf '{WORKS}' > {self.programs / package}; /bin/chmod +x {self.programs / package}\n",
        )

    def steps(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


REAL_PYTHON = sys.executable


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_configured_path_takes_precedence(machine: Machine, tmp_path: Path) -> None:
    machine.program("chromium", WORKS)
    configured = tmp_path / "configured"
    configured.touch()
    assert find_chromium(str(configured)) == Chromium(str(configured), "from CHROMIUM_PATH")
    configured.unlink()
    for find in (find_chromium, install_chromium):
        with pytest.raises(NoBrowser, match="that file does not exist"):
            find(str(configured))
    assert machine.steps() == []


def test_path_takes_precedence_over_playwright(machine: Machine) -> None:
    with pytest.raises(NoBrowser, match="scrapy browser --install"):
        find_chromium()
    machine.downloaded.touch()
    assert find_chromium() == Chromium(str(machine.downloaded), "downloaded by playwright")
    path = machine.program("google-chrome", WORKS)
    assert find_chromium() == Chromium(str(path), "found on PATH")
    assert install_chromium().path == str(path)
    assert machine.steps() == []


def test_playwrights_installer_is_tried_before_the_package(machine: Machine) -> None:
    machine.apt_installs("chromium")
    machine.playwright_installs(WORKS)
    assert install_chromium() == Chromium(str(machine.downloaded), "downloaded by playwright")
    assert machine.steps() == ["playwright"]


@pytest.mark.parametrize("package", ["chromium", "chromium-browser"])
def test_package_is_installed_if_the_download_fails(machine: Machine, package: str) -> None:
    machine.apt_installs(package)
    reported: list[str] = []
    found = install_chromium(report=reported.append)
    assert (found.path, found.origin.split()[-1]) == (str(machine.programs / package), package)
    assert len(reported) == 2
    assert [step.split()[1] for step in machine.steps()[1:3]] == ["update", "install"]


def test_package_is_installed_if_the_download_does_not_start(machine: Machine) -> None:
    machine.playwright_installs(LACKS_A_LIBRARY)
    machine.apt_installs("chromium")
    assert install_chromium().path == str(machine.programs / "chromium")


def test_chromium_that_does_not_start_is_an_error(machine: Machine) -> None:
    machine.program("chromium", "echo 'snap install chromium' >&2; exit 1\n")
    with pytest.raises(NoBrowser, match=r"does not start \(snap install chromium\)"):
        working_chromium()


def test_error_lists_the_reason_of_every_attempt(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoBrowser, match=r"\(Error: getaddrinfo ENOTFOUND\); this system has no apt-get"):
        install_chromium()
    machine.apt_installs("firefox")
    with pytest.raises(NoBrowser, match=r"package could not be installed \(E: Unable to locate package\)"):
        install_chromium()
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(NoBrowser, match="needs root: `sudo apt install chromium`"):
        install_chromium()
