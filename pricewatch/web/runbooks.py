"""Parses runbooks.md, whose sections the alerts link to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files


@dataclass(slots=True)
class Section:
    anchor: str
    title: str
    # Pairs of kind ("text", "step", "code" or "end") and text.
    blocks: list[tuple[str, str]] = field(default_factory=list)


@cache
def sections() -> list[Section]:
    """Parse headings, paragraphs, list items and code blocks; the file contains nothing else."""
    found: list[Section] = []
    code: list[str] | None = None
    for line in (files("pricewatch.web") / "runbooks.md").read_text("utf-8").splitlines():
        if line.startswith("```"):
            if code is not None and found:
                found[-1].blocks.append(("code", "\n".join(code)))
            code = [] if code is None else None
        elif code is not None:
            code.append(line)
        elif line.startswith("## "):
            title = line[3:].strip()
            found.append(Section(re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-"), title))
        elif found and line.strip():
            _add(found[-1], line)
        elif found and found[-1].blocks:
            found[-1].blocks.append(("end", ""))
    return found


def _add(section: Section, line: str) -> None:
    if match := re.match(r"(?:\d+\.|[-*]) (.*)", line):
        section.blocks.append(("step", match[1]))
    elif section.blocks and section.blocks[-1][0] in ("text", "step"):
        kind, before = section.blocks[-1]
        section.blocks[-1] = (kind, f"{before} {line.strip()}")
    else:
        section.blocks.append(("text", line.strip()))
