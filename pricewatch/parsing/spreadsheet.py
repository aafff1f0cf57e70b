"""Cells that stay text in a spreadsheet, whatever a site wrote into them."""

from __future__ import annotations

# A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


def escaped_cell(cell: str) -> str:
    """Numbers stay numbers; everything else that could be a formula gets a quote in front."""
    if not cell.startswith(_FORMULA):
        return cell
    digits = cell[1:].replace(".", "", 1)
    is_number = cell[0] in "+-" and digits.isascii() and digits.isdigit()
    return cell if is_number else f"'{cell}"
