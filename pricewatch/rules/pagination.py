"""When discovery stops reading the pages of a start page."""

from __future__ import annotations

STOP_AFTER_FAMILIAR_PAGES = 5


def familiar_streak(new_by_page: list[int]) -> int:
    """Return how many of the last pages in a row had no new listing."""
    streak = 0
    for new in reversed(new_by_page):
        if new:
            break
        streak += 1
    return streak


def should_continue(
    new_by_page: list[int],
    *,
    has_next: bool,
    pages_read: int,
    first_run: bool,
    max_pages: int | None = None,
    stop_after: int = STOP_AFTER_FAMILIAR_PAGES,
) -> bool:
    """Return whether to request the next page.

    `new_by_page` has the new listings of the pages that were compared with the database; `pages_read` may be
    ahead of it. A page that is not compared yet counts as familiar, so no page is requested unnecessarily.
    """
    if not has_next or (max_pages is not None and pages_read >= max_pages):
        return False
    if first_run:
        return True
    not_compared = pages_read - len(new_by_page)
    return familiar_streak(new_by_page) + not_compared < stop_after
