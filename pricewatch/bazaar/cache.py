"""Rendered bytes, the least recently used thrown out first."""

from collections import OrderedDict
from collections.abc import Callable, Hashable


class ByteCache:
    """Keeps at most `limit` bytes. Keys carry a version, so an outdated page is simply never asked for."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._pages: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, key: Hashable, render: Callable[[], bytes]) -> bytes:
        """Return the bytes for `key`, rendered now if they are not held."""
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
