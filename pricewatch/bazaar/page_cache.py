"""LRU cache of rendered pages."""

from collections import OrderedDict
from collections.abc import Callable, Hashable


class PageCache:
    """Keep at most `limit` bytes. Keys contain a version, so outdated pages are never requested again."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._pages: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, key: Hashable, render: Callable[[], bytes]) -> bytes:
        """Return the bytes for `key`; render them if they are not cached."""
        page = self._pages.get(key)
        if page is not None:
            self._pages.move_to_end(key)
            return page
        page = render()
        self._pages[key] = page
        self._size += len(page)
        while self._size > self._limit:
            _, dropped = self._pages.popitem(last=False)
            self._size -= len(dropped)
        return page
