"""The page cache: its limit and its order of eviction."""

from pricewatch.bazaar.page_cache import PageCache


def test_the_least_recently_used_page_is_evicted_first() -> None:
    rendered: list[str] = []
    cache = PageCache(limit=25)

    def get(key: str) -> bytes:
        def render() -> bytes:
            rendered.append(key)
            return key.encode() * 10

        return cache.get(key, render)

    assert [get(key) for key in "abaca"] == [b"a" * 10, b"b" * 10, b"a" * 10, b"c" * 10, b"a" * 10]
    assert rendered == ["a", "b", "c"]
    get("b")
    assert rendered == ["a", "b", "c", "b"]


def test_a_page_larger_than_the_cache_is_served() -> None:
    cache = PageCache(limit=5)
    assert cache.get("a", lambda: b"0123456789") == b"0123456789"
    assert cache.get("b", lambda: b"01") == b"01"
