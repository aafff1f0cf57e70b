"""The process guard: a test or a session that leaves a process behind fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests import processes
from tests.conftest import ROOT

LEAVES = """
    import subprocess, sys
    import pytest

    START = [sys.executable, "-c", "import time; time.sleep(600)"]
    def start():
        return subprocess.Popen(START, start_new_session=True).pid

    @pytest.fixture(scope="session")
    def for_all():
        print("session", start())

    def test_leaves_one():
        print("test", start())

    def test_ends_its_own():
        process = subprocess.Popen(START)
        process.kill()
        process.wait()

    def test_uses_one_of_the_session(for_all):
        pass
"""


def test_process_that_outlives_its_test_fails_the_test(tmp_path: Path) -> None:
    (tmp_path / "test_leaving.py").write_text(textwrap.dedent(LEAVES))
    plugin = tmp_path / "conftest.py"
    plugin.write_text(
        "import pytest\nfrom tests import processes\nprocesses.END_SECONDS = 0.2\n"
        "def pytest_configure(config):\n    config.pluginmanager.register(processes.ProcessGuard())\n"
        "@pytest.fixture(scope='session', autouse=True)\ndef processes_end():\n    yield\n"
        "    processes.check_session()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "-p", "no:randomly", "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "ERROR test_leaving.py::test_leaves_one - Failed: The test left these processes" in done.stdout
    assert "PASSED test_leaving.py::test_ends_its_own" in done.stdout
    assert "The session left these processes" in done.stdout
    assert "3 passed, 2 errors" in done.stdout


SLEEPER = """
import os, subprocess, sys
environment = {"PATH": os.environ["PATH"], "TMPDIR": sys.argv[1]}
child = subprocess.Popen(["sleep", "60"], env=environment, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("ends_first", [True, False], ids=["orphan", "child"])
def test_processes_without_a_name_belong_to_the_one_that_started_them(ends_first: bool) -> None:
    """Browsers get few variables: no name of a test, but the temporary directory."""
    assert processes.session_tmpdir is not None
    for tmpdir, is_left in ((processes.session_tmpdir, True), (processes.session_tmpdir.parent, False)):
        parent = subprocess.Popen(
            [sys.executable, "-c", SLEEPER, str(tmpdir)],
            env={**os.environ, processes.VARIABLE: "some test"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert parent.stdout
        child = int(parent.stdout.readline())
        try:
            if ends_first:
                parent.communicate()
            owner = {each.pid for each in processes._owned("some test")}
            other = {each.pid for each in processes._owned("another test")}
        finally:
            os.kill(child, signal.SIGKILL)
            parent.communicate()
        assert (child in owner) is is_left
        # An orphan is found by whichever test runs.
        assert (child in other) is (is_left and ends_first)


def test_child_processes_do_not_ignore_sigint() -> None:
    """Even if the tests run in the background of a script, which ignores SIGINT."""
    sleeper = "import signal; signal.raise_signal(signal.SIGINT)"
    done = subprocess.run([sys.executable, "-c", sleeper], stderr=subprocess.DEVNULL)
    assert done.returncode == -signal.SIGINT
