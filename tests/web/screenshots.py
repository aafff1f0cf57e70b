"""`make screenshots`: the five main pages after some days of the sample marketplace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from pricewatch.fetching.browser.chromium import find_chromium
from tests.conftest import ROOT

DAYS = 8
OUTPUT = ROOT / "docs" / "screenshots"
# name, path, width, height, colour scheme
SHOTS = (
    ("overview", "/", 1360, 900, "light"),
    ("listings", "/listings?market=bazaar-bikes", 1360, 860, "light"),
    ("listing", "/listings/{listing}", 1360, 900, "dark"),
    ("run", "/runs/{run}", 1360, 900, "light"),
    ("phone", "/", 390, 844, "dark"),
)


def main() -> None:
    with TemporaryDirectory(prefix="pw") as var:
        environment = {**os.environ, "PRICEWATCH_VAR": var, "PYTHONPATH": str(ROOT)}
        environment.pop("DATABASE_URL", None)
        subprocess.run(
            [sys.executable, "-m", "tests.web.sample_world", var, str(DAYS)], env=environment, check=True
        )
        os.environ["PRICEWATCH_VAR"] = var
        os.environ.pop("DATABASE_URL", None)
        ids = _ids()
        command = [sys.executable, "-m", "scrapy", "web", "--port", "0"]
        server = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout
            _take(server.stdout.readline().strip().rstrip("/"), ids)
        finally:
            server.terminate()
            server.wait(60)


def _ids() -> dict[str, int]:
    """The listing with the most price changes, and the sweep with the most price rows."""
    from sqlalchemy import text

    from pricewatch.store.engine.database import engine

    with engine().connect() as connection:
        listing = connection.execute(
            text("SELECT listing_id FROM price_history GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1")
        ).scalar_one()
        run = connection.execute(
            text("SELECT id FROM runs WHERE spider = 'sweep' ORDER BY price_rows DESC, id LIMIT 1")
        ).scalar_one()
    engine().dispose()
    return {"listing": listing, "run": run}


def _take(address: str, ids: dict[str, int]) -> None:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium().path)
        for name, path, width, height, scheme in SHOTS:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,  # type: ignore[arg-type]
                device_scale_factor=1.5,
            )
            page = context.new_page()
            page.goto(address + path.format(**ids))
            page.screenshot(path=OUTPUT / f"{name}.png")
            print(Path("docs/screenshots") / f"{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
