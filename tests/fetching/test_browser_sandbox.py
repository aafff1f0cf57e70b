"""The browser's rights: its sandbox, and an environment without secrets."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

from pricewatch.bazaar.client import Bazaar
from pricewatch.fetching.browser.forward_proxy import USERNAME
from pricewatch.fetching.browser.sandbox import AS_ROOT, CANNOT_START
from tests.conftest import ROOT
from tests.fetching.conftest import Site

NOBODY = 65534
MARKER = "m4rk3r"
SECRETS = {
    "DATABASE_URL": f"postgresql://pricewatch:{MARKER}@127.0.0.1:1/pricewatch",
    "REDIS_URL": f"redis://:{MARKER}@127.0.0.1:1/0",
    "PROXIES_DATACENTER": f"http://user:{MARKER}@127.0.0.1:1",
    "PROXIES_RESIDENTIAL": f"http://user:{MARKER}@127.0.0.1:2",
    "HTTPS_PROXY": f"http://user:{MARKER}@127.0.0.1:3",
    **dict.fromkeys(
        (
            "SCRAPYD_USERNAME", "SCRAPYD_PASSWORD", "PRICEWATCH_USER", "PRICEWATCH_PASSWORD",
            "PRICEWATCH_SECRET", "PRICEWATCH_EGG_KEY", "PRICEWATCH_NOTIFY", "PRICEWATCH_NOTIFY_OPS",
            "PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "SOME_TOKEN",
        ),
        MARKER,
    ),
}  # fmt: skip
# A user namespace in which no other one can be created: what a kernel, AppArmor or a container may forbid.
WITHOUT_NAMESPACES = (
    "echo 1 > /proc/sys/user/max_user_namespaces; exec unshare --user --map-user=1000 --map-group=1000"
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can switch to another user")
pytestmark = pytest.mark.proof


def one_page(bazaar: Bazaar, *arguments: str, before: Sequence[str] = (), **variables: str) -> dict[str, Any]:
    """Load a page of the marketplace that scripts build; return the page and the browser's processes."""
    page = next(each.url for each in bazaar.truth() if each.markup == "js" and each.state == "on_sale")
    module = [sys.executable, "-m", "tests.fetching.browser_processes"]
    done = subprocess.run(
        [*before, *module, f"{bazaar.url}{page}", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "ALLOWED_PRIVATE_HOSTS": "127.0.0.1", **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout, done.stderr
    return {**json.loads(done.stdout.splitlines()[-1]), "log": done.stderr}


def as_nobody(*command: str) -> int:
    return subprocess.run(command, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/").returncode


def of_type(processes: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [each for each in processes if f"--type={name}" in each["command"]]


@needs_root
@pytest.mark.browser
def test_another_user_gets_a_sandboxed_browser(bazaar: Bazaar) -> None:
    try:
        as_nobody(compute_driver_executable()[0], "--version")
    except PermissionError:
        pytest.skip("another user cannot run playwright's driver: this environment is in a private directory")
    found = one_page(bazaar, str(NOBODY), BROWSER_WITHOUT_SANDBOX="no")
    if "page" not in found:
        # Only where this machine has no user namespaces for that user.
        assert found["message"] == CANNOT_START
        assert as_nobody("unshare", "--user", "true")
        return
    assert "buy-box" in found["page"]
    commands = [each["command"] for each in found["processes"]]
    assert {each["user"] for each in found["processes"]} == {NOBODY}
    assert not [command for command in commands if "--no-sandbox" in command]
    renderers = of_type(found["processes"], "renderer")
    assert renderers
    # 2 is a filter of system calls.
    assert {each["seccomp"] for each in renderers} == {2}


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare, of util-linux")
def test_a_sandbox_that_cannot_start_is_reported_in_a_sentence(bazaar: Bazaar) -> None:
    possible = subprocess.run(["unshare", "--user", "--map-root-user", "true"]).returncode == 0
    before = ("unshare", "--user", "--map-root-user", "sh", "-c", f'{WITHOUT_NAMESPACES} "$@"', "sh")
    found = one_page(bazaar, before=before if possible else (), BROWSER_WITHOUT_SANDBOX="no")
    assert (found["reason"], found["message"], found["missing"]) == ("no_browser", CANNOT_START, 1)
    assert "Traceback" not in found["log"]


@needs_root
def test_root_gets_no_browser_unless_a_setting_says_so(site: Site) -> None:
    site.source()
    pages = (site.url("/help"), {"url": site.url("/c/bikes"), "meta": {"playwright": True}})
    for value in ("no", False, ""):
        report = site.fetch(*pages, BROWSER_WITHOUT_SANDBOX=value)
        assert report[0]["status"] == 200
        assert (report[1].get("reason"), report[1]["message"]) == ("no_browser", AS_ROOT)
        assert report.stat("browser/missing") == 1
        assert report.stat("browser/started") == 0


@pytest.fixture(scope="module")
def opened(one_bazaar: Bazaar) -> dict[str, Any]:
    """A page in a browser whose crawl has every secret in its environment."""
    one_bazaar.reset()
    return one_page(one_bazaar, **SECRETS, LC_ALL="C.UTF-8", TZ="Europe/Vienna")


@pytest.mark.browser
def test_browser_and_driver_get_no_secrets(opened: dict[str, Any]) -> None:
    assert "buy-box" in opened["page"]
    processes = opened["processes"]
    (driver,) = (each for each in processes if each["command"][-1] == "run-driver")
    # The other processes of Chromium write their command lines over their environments.
    (browser,) = (each for each in processes if each["command"][-1] == "--no-startup-window")
    for process in (driver, browser):
        assert process["environment"]["LC_ALL"] == "C.UTF-8"
        assert process["environment"]["TZ"] == "Europe/Vienna"
        assert "PRICEWATCH_TEST" not in process["environment"]
    for process in processes:
        assert MARKER not in json.dumps([process["environment"], process["command"]])


@pytest.mark.browser
def test_password_of_the_forward_proxy_is_in_no_log_and_no_process(opened: dict[str, Any]) -> None:
    assert "DEBUG: Browser context started" in opened["log"]
    password = opened["password"]
    encoded = base64.b64encode(f"{USERNAME}:{password}".encode()).decode()
    for text in (opened["log"], opened["meta"], opened["page"], json.dumps(opened["processes"])):
        assert password not in text
        assert encoded not in text
