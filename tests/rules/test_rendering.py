"""Which pages are fetched with the browser."""

from __future__ import annotations

import pytest

from pricewatch.errors import UserError
from pricewatch.queued_work import SourceHints
from pricewatch.rules.rendering import check_choice, is_rendered


@pytest.mark.parametrize(
    ("target", "source", "needs_browser", "requires_js", "expected"),
    [
        (None, "auto", False, False, False),
        (None, "auto", False, True, True),
        (None, "auto", True, False, True),
        (None, "never", False, True, False),
        (None, "always", False, False, True),
        ("never", "always", False, True, False),
        ("always", "never", False, False, True),
        ("auto", "always", False, False, False),
        ("auto", "never", False, True, True),
        ("never", "auto", True, False, False),
    ],
)
def test_target_before_source_before_what_was_learned(
    target: str | None, source: str, needs_browser: bool, requires_js: bool, expected: bool
) -> None:
    hints = SourceHints(source, needs_browser)
    assert is_rendered(target, hints, requires_js=requires_js) is expected


def test_choices_of_a_target() -> None:
    assert [check_choice(text) for text in ("auto", "never", "always", "inherit")] == [
        "auto",
        "never",
        "always",
        None,
    ]
    with pytest.raises(UserError, match="'sometimes' for render. Known: auto, never, always, inherit"):
        check_choice("sometimes")
