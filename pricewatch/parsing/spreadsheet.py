"""Escaping of CSV cells that a spreadsheet would run as formulas."""

from __future__ import annotations

# A spreadsheet reads a cell with one of these prefixes as a formula.
_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


def escaped_cell(cell: str) -> str:
    """Prefix a cell with a quote if it could be a formula; numbers are unchanged."""
    if not cell.startswith(_FORMULA_PREFIXES):
        return cell
    digits = cell[1:].replace(".", "", 1)
    is_number = cell[0] in "+-" and digits.isascii() and digits.isdigit()
    return cell if is_number else f"'{cell}"
