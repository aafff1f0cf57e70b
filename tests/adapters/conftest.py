"""The declared shop of docs/adding-a-site.md, extracted from that file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module", autouse=True)
def documented_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    (example,) = re.findall(
        r"```toml\n(.*?)```", (ROOT / "docs" / "adding-a-site.md").read_text("utf-8"), re.DOTALL
    )
    directory = tmp_path_factory.mktemp("shops")
    (directory / "books_toscrape.toml").write_text(example, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRICEWATCH_SHOPS", str(directory))
        yield directory
