"""`scrapy browser`: it finds a Chromium that pages may be rendered with, or says why there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scrapy.settings import Settings

from pricewatch.commands import demo, smoke
from pricewatch.fetching.browser.sandbox import AS_ROOT, CANNOT_START
from tests.conftest import Crawl, chromium_path

# Chromium's words on a system without user namespaces.
NO_SANDBOX = "#!/bin/sh\ncase $* in --version) ;; *) echo 'No usable sandbox!' >&2; exit 1; esac\n"
NO_LIBRARY = "#!/bin/sh\ncase $* in --version) ;; *) echo 'cannot open display' >&2; exit 1; esac\n"


@pytest.mark.browser
def test_browser_that_starts_is_shown(crawl: Crawl) -> None:
    shown = crawl.command("browser").end()
    assert (shown.returncode, shown.stdout.split()[:2]) == (0, ["Browser:", chromium_path()])


@pytest.mark.browser
@pytest.mark.skipif(os.geteuid() != 0, reason="about root")
@pytest.mark.parametrize("option", ["--install", None])
def test_root_is_told_why_pages_are_not_rendered(crawl: Crawl, option: str | None) -> None:
    words = ["browser", option] if option else ["browser"]
    refused = crawl.command(*words, BROWSER_WITHOUT_SANDBOX="no").end()
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == f"pricewatch: No browser: {AS_ROOT}.\n"


@pytest.mark.parametrize(
    ("script", "sentence"),
    [(NO_SANDBOX, CANNOT_START), (NO_LIBRARY, "the browser does not start: cannot open display")],
    ids=["no sandbox", "no display"],
)
def test_browser_that_does_not_start_is_explained(
    crawl: Crawl, tmp_path: Path, script: str, sentence: str
) -> None:
    program = tmp_path / "chromium"
    program.write_text(script)
    program.chmod(0o755)
    failed = crawl.command("browser", CHROMIUM_PATH=str(program)).end()
    assert (failed.returncode, failed.stderr) == (1, f"pricewatch: No browser: {sentence}.\n")


@pytest.mark.browser
@pytest.mark.skipif(os.geteuid() != 0, reason="about root")
def test_smoke_and_demo_say_why_pages_are_not_rendered(capsys: pytest.CaptureFixture[str]) -> None:
    for command, printed in ((smoke.Command(), "_print_browser"), (demo.Command(), "_print_missing_browser")):
        command.settings = Settings({"BROWSER_WITHOUT_SANDBOX": "no"})
        getattr(command, printed)()
        assert capsys.readouterr().out.startswith(f"No browser: {AS_ROOT}. ")
