"""Where the files of declared shops lie: `shops/` beside this module, and a directory of the user's own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from scrapy.utils.conf import closest_scrapy_cfg

from pricewatch.adapters.base import Adapter
from pricewatch.errors import UserError

OURS = Path(__file__).parent / "shops"
NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")


def directories() -> list[Path]:
    """PRICEWATCH_SHOPS names the user's own; without it, `shops/` where pricewatch keeps its data."""
    if own := os.environ.get("PRICEWATCH_SHOPS"):
        return [OURS, Path(own).expanduser()]
    project = Path(closest_scrapy_cfg() or "scrapy.cfg").parent
    return [OURS, Path(os.environ.get("PRICEWATCH_VAR") or project / "var").expanduser() / "shops"]


def files(taken: Iterable[str] = ()) -> dict[str, Path]:
    """The shops by name; a file whose name cannot be one, or is taken, is an error and not ignored."""
    found: dict[str, Path] = {}
    for path in (path for directory in directories() for path in sorted(directory.glob("*.toml"))):
        if not NAME.fullmatch(path.stem):
            raise UserError(f"{path}: call it after the shop, with a-z, 0-9 and _ only.")
        if path.stem in found or path.stem in taken:
            other = found.get(path.stem, "an adapter of that name")
            raise UserError(f"{path}: there is already {other}; choose another name.")
        found[path.stem] = path
    return found


def adapter(path: Path) -> Adapter:
    """The adapter that a file declares; a file that changed is read again."""
    return _adapter(path, path.stat().st_mtime_ns)


@cache
def _adapter(path: Path, _changed: int) -> Adapter:
    # Only whoever has such shops pays for what reads them.
    from pricewatch.declared_shops.declaration import read_declaration
    from pricewatch.declared_shops.declared_adapter import DeclaredAdapter

    return DeclaredAdapter(path.stem, read_declaration(path))
