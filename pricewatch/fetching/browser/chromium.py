"""Find or install the Chromium that renders pages, for crawls, the shell and the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from scrapy.settings import BaseSettings

from pricewatch.fetching.browser.sandbox import check_user, start_failure
from pricewatch.fetching.failures import NoBrowser
from pricewatch.rules.access.child_environment import browser_environment, spider_variables
from pricewatch.rules.yes_or_no import is_yes

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
# Debian's name, then Ubuntu's.
PACKAGES = ("chromium", "chromium-browser")
FONTS = "fonts-liberation"
MISSING = (
    "no Chromium is installed: run `scrapy browser --install`, install one yourself "
    "(for example `apt install chromium`), or set CHROMIUM_PATH"
)
# Run in its own process: playwright starts a driver, and crawls already have an event loop.
PLAYWRIGHT_PATH = (
    "from playwright.sync_api import sync_playwright\n"
    "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
)
QUERY_SECONDS = 60
DOWNLOAD_SECONDS = 300
PACKAGE_SECONDS = 600


class Chromium(NamedTuple):
    """An executable and its origin."""

    path: str
    origin: str

    def __str__(self) -> str:
        return f"{self.path} ({self.origin})"


def find_chromium(configured: str = "") -> Chromium:
    """Return CHROMIUM_PATH, else a Chromium on PATH, else the one that playwright has downloaded."""
    if configured:
        if not Path(configured).exists():
            raise NoBrowser(f"CHROMIUM_PATH is {configured}, and that file does not exist")
        return Chromium(configured, "from CHROMIUM_PATH")
    if path := next((path for name in NAMES if (path := shutil.which(name))), None):
        return Chromium(path, "found on PATH")
    path = _run([sys.executable, "-c", PLAYWRIGHT_PATH], QUERY_SECONDS).stdout.strip()
    if path and Path(path).exists():
        return Chromium(path, "downloaded by playwright")
    raise NoBrowser(MISSING)


def working_chromium(configured: str = "") -> Chromium:
    """Find a Chromium that starts: system libraries may be missing, and a package may only install a snap."""
    chromium = find_chromium(configured)
    ended = _run([chromium.path, "--version"], QUERY_SECONDS)
    if ended.returncode:
        raise NoBrowser(f"{chromium} does not start ({_reason(ended)})")
    return chromium


def usable_chromium(settings: BaseSettings) -> Chromium:
    """Find the Chromium of a crawl, and start it once with its sandbox, to load an empty page."""
    without_sandbox = is_yes(settings.get("BROWSER_WITHOUT_SANDBOX"))
    chromium = working_chromium(settings.get("CHROMIUM_PATH") or "")
    check_user(without_sandbox=without_sandbox)
    with TemporaryDirectory(prefix="pricewatch-", ignore_cleanup_errors=True) as profile:
        flags = ["--headless", "--disable-gpu", f"--user-data-dir={profile}", "--dump-dom"]
        sandbox = ["--no-sandbox"] if without_sandbox else []
        ended = _run([chromium.path, *flags, *sandbox, "about:blank"], QUERY_SECONDS)
    if ended.returncode:
        raise start_failure(ended.stderr)
    return chromium


def install_chromium(configured: str = "", report: Callable[[str], None] = lambda _: None) -> Chromium:
    """Find one, else download playwright's, else (root on Debian or Ubuntu) install the system's package."""
    try:
        return working_chromium(configured)
    except NoBrowser:
        if configured:
            raise
    failures = []
    for install in (_download, _install_package):
        try:
            return install(report)
        except NoBrowser as failure:
            failures.append(str(failure))
    raise NoBrowser(f"Chromium could not be installed: {'; '.join(failures)}")


def _download(report: Callable[[str], None]) -> Chromium:
    report("Downloading Chromium with playwright's installer ...")
    ended = _install([sys.executable, "-m", "playwright", "install", "chromium"], DOWNLOAD_SECONDS)
    if ended.returncode:
        raise NoBrowser(f"playwright's installer failed ({_reason(ended)})")
    return working_chromium()


def _install_package(report: Callable[[str], None]) -> Chromium:
    if shutil.which("apt-get") is None:
        raise NoBrowser("this system has no apt-get")
    if os.geteuid() != 0:
        raise NoBrowser("the system's package needs root: `sudo apt install chromium`")
    report("Installing the system's Chromium package ...")
    ended = _install(["apt-get", "update", "--quiet"], PACKAGE_SECONDS)
    for package in PACKAGES:
        command = ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", package, FONTS]
        ended = _install(command, PACKAGE_SECONDS)
        if not ended.returncode:
            return working_chromium()._replace(origin=f"installed from the system's package {package}")
    raise NoBrowser(f"the system's package could not be installed ({_reason(ended)})")


def _install(command: list[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Run an installer, which may need the proxies and mirrors that the environment names."""
    environment = {**spider_variables(os.environ), "DEBIAN_FRONTEND": "noninteractive"}
    return _run(command, seconds, environment)


def _run(
    command: list[str], seconds: float, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; a timeout or a failure to start counts as exit status 1."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            env=browser_environment(os.environ) if environment is None else environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"it took longer than {seconds:g} seconds")
    except OSError as error:
        return subprocess.CompletedProcess(command, 1, "", error.strerror or str(error))


def _reason(ended: subprocess.CompletedProcess[str]) -> str:
    """Return the first line that starts with an error label, else the last line."""
    lines = [line.strip() for line in (ended.stderr + "\n" + ended.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("Error:", "E:"))]
    return (errors or lines[-1:] or [f"exit status {ended.returncode}"])[0]
