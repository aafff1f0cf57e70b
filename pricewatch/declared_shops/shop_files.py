"""The files of declared shops: those in `shops/` of this package, and those in a directory of the user."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from scrapy.utils.conf import closest_scrapy_cfg

from pricewatch.adapters.base import Adapter
from pricewatch.errors import UserError

BUILT_IN = Path(__file__).parent / "shops"
NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")


def directories() -> list[Path]:
    """The built-in directory and the user's: PRICEWATCH_SHOPS, or else `shops/` in the data directory."""
    if directory := os.environ.get("PRICEWATCH_SHOPS"):
        return [BUILT_IN, Path(directory).expanduser()]
    project = Path(closest_scrapy_cfg() or "scrapy.cfg").parent
    return [BUILT_IN, Path(os.environ.get("PRICEWATCH_VAR") or project / "var").expanduser() / "shops"]


def find_files(taken: Iterable[str] = ()) -> dict[str, Path]:
    """Files by shop name; raises UserError for a file name that is not valid or already in use."""
    found: dict[str, Path] = {}
    for path in (path for directory in directories() for path in sorted(directory.glob("*.toml"))):
        if not NAME.fullmatch(path.stem):
            raise UserError(f"{path}: the name is not valid. Use a-z, 0-9 and _, and start with a letter.")
        if path.stem in found or path.stem in taken:
            other = found.get(path.stem, "an adapter of that name")
            raise UserError(f"{path}: there is already {other}; choose another name.")
        found[path.stem] = path
    return found


def load_adapter(path: Path) -> Adapter:
    """The adapter of a shop's file; the file is read again if it has changed."""
    return _load(path, path.stat().st_mtime_ns)


@cache
def _load(path: Path, _modified: int) -> Adapter:
    # Imported here because most runs need no declared shops.
    from pricewatch.declared_shops.declaration import read_declaration
    from pricewatch.declared_shops.declared_adapter import DeclaredAdapter

    return DeclaredAdapter(path.stem, read_declaration(path))
