"""When a paginated start page has been read far enough."""

from __future__ import annotations

STOP_AFTER_FAMILIAR_PAGES = 5


def familiar_streak(new_by_page: list[int]) -> int:
    """How many pages in a row, up to the last one, had nothing new."""
    streak = 0
    for new in reversed(new_by_page):
        if new:
            break
        streak += 1
    return streak


def goes_on(
    new_by_page: list[int],
    *,
    has_next: bool,
    pages_read: int,
    first_run: bool,
    max_pages: int | None = None,
    stop_after: int = STOP_AFTER_FAMILIAR_PAGES,
) -> bool:
    """Whether the next page is wanted.

    `new_by_page` has the pages whose cards were compared with what is stored; `pages_read` may be ahead of
    it. A page that is not compared yet counts as familiar, so no page is ever asked for in vain.
    """
    if not has_next or (max_pages is not None and pages_read >= max_pages):
        return False
    if first_run:
        return True
    undecided = pages_read - len(new_by_page)
    return familiar_streak(new_by_page) + undecided < stop_after
