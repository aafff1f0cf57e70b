"""Limits of the data that a page embeds; a block above them is left out as a whole, and said to be."""

from __future__ import annotations

from typing import Any

MAX_LENGTH = 2_000_000
MAX_DEPTH = 40
MAX_NODES = 50_000
MAX_PROPERTIES = 5_000
MAX_PRODUCTS = 300


class BlockTooLarge(ValueError):
    """A block is longer, deeper or has more parts than any real one."""


def check_length(text: str, name: str) -> None:
    if len(text) > MAX_LENGTH:
        raise BlockTooLarge(f"{name} has more than {MAX_LENGTH:,} characters")


def check_nodes(value: Any, text: str, name: str) -> None:
    """Raise BlockTooLarge if decoded JSON has too many objects and arrays, or is nested too deeply."""
    # Nothing has more levels than the text has brackets.
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return
    level, depth, nodes = [value], 0, 0
    while level:
        depth, nodes = depth + 1, nodes + len(level)
        if depth > MAX_DEPTH:
            raise BlockTooLarge(f"{name} is nested more than {MAX_DEPTH} levels deep")
        if nodes > MAX_NODES:
            raise BlockTooLarge(f"{name} has more than {MAX_NODES:,} objects")
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, (dict, list))
        ]
