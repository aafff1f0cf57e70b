"""The layout of the templates: one block element a line, short lines, statements on lines of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "pricewatch" / "web" / "templates"
TEMPLATES = sorted(FOLDER.rglob("*.html"))
LONGEST_LINE = 120
BLOCK = re.compile(
    "article|aside|body|dd|details|div|dl|dt|fieldset|footer|form|h[1-6]|head|header|html|iframe|label|li|main"
    "|nav|ol|option|p|pre|section|select|summary|table|tbody|td|textarea|th|thead|tr|ul"
)
_JINJA = r"\{\{.*?\}\}|\{%.*?%\}"
# Statements inside a tag choose its attributes; they belong to its line.
TAG = re.compile(rf'<(?P<name>/?[a-z][a-z0-9]*)(?:{_JINJA}|"(?:{_JINJA}|[^"])*"|[^>"])*(?:>|$)')


def faults(line: str) -> list[str]:
    """The rules that a line of a template breaks."""
    names = [tag["name"] for tag in TAG.finditer(line)]
    opened = [name for name in names if BLOCK.fullmatch(name)]
    found = []
    if len(line) > LONGEST_LINE:
        found.append(f"{len(line)} characters")
    if len(opened) > 1:
        found.append(f"opens {' and '.join(opened)}")
    beside_block = any(BLOCK.fullmatch(name.lstrip("/")) for name in names)
    if beside_block and "{%" in TAG.sub("", line):
        found.append("a statement next to a block element")
    if line != line.rstrip() or "\t" in line:
        found.append("a tab or trailing whitespace")
    return found


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_template_has_one_block_element_a_line(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert not [(number, fault) for number, line in enumerate(lines, 1) for fault in faults(line)]


@pytest.mark.parametrize(
    "line",
    [
        '<div class="card"><div class="body">',
        "<tr><td>{{ row.id }}</td></tr>",
        "{% if rows %}<table>",
        "<td>{% if row.price %}{{ row.price|money }}{% endif %}</td>",
        "</ul>{% endfor %}",
        f"<p>{'long ' * 24}</p>",
        "<p> ",
    ],
)
def test_faulty_lines_are_found(line: str) -> None:
    assert faults(line)


@pytest.mark.parametrize(
    "line",
    [
        '<td class="n">{{ row.price|money }}</td>',
        '<dd><a href="/runs/{{ run.id }}">{{ run.id }}</a></dd>',
        "<label>Name <input name=\"name\" value=\"{{ '>' if name else '' }}\"></label>",
        '<tr{% if not row.active %} class="off"{% endif %}>',
        "<span>{{ title }}{% if details %}: {{ details }}{% endif %}</span>",
        "<strong>{{ title }}</strong>",
    ],
)
def test_sound_lines_pass(line: str) -> None:
    assert not faults(line)
