"""Which pages are fetched with the browser."""

from __future__ import annotations

from pricewatch.errors import UserError
from pricewatch.queued_work import SourceHints
from pricewatch.vocabulary import Render

# On a target: the value of its source applies.
INHERIT = "inherit"
CHOICES = tuple(str(choice) for choice in Render)


def check_choice(text: str) -> str | None:
    """Return the choice for a target, None for "inherit"; raise `UserError` if it is neither."""
    if text == INHERIT:
        return None
    if text not in CHOICES:
        raise UserError(f"Unknown choice {text[:20]!r} for render. Known: {', '.join((*CHOICES, INHERIT))}.")
    return text


def is_rendered(render: str | None, hints: SourceHints, *, requires_js: bool) -> bool:
    """Return whether to fetch a page with the browser at once; `render` is the choice of its target, if any.

    `never` also overrides an adapter that requires JavaScript.
    """
    choice = chosen(render, hints)
    return choice is Render.ALWAYS or (choice is Render.AUTO and (requires_js or hints.needs_browser))


def chosen(render: str | None, hints: SourceHints) -> Render:
    return Render(render or hints.render)
