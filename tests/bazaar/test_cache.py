"""The cache of rendered pages stays small and keeps what is used."""

from pricewatch.bazaar.cache import ByteCache


def test_the_least_recently_used_goes_first() -> None:
    rendered: list[str] = []
    cache = ByteCache(limit=25)

    def ask(key: str) -> bytes:
        def render() -> bytes:
            rendered.append(key)
            return key.encode() * 10

        return cache.get(key, render)

    assert [ask(key) for key in "abaca"] == [b"a" * 10, b"b" * 10, b"a" * 10, b"c" * 10, b"a" * 10]
    assert rendered == ["a", "b", "c"]
    ask("b")
    assert rendered == ["a", "b", "c", "b"]


def test_a_page_larger_than_the_cache_is_still_served() -> None:
    cache = ByteCache(limit=5)
    assert cache.get("a", lambda: b"0123456789") == b"0123456789"
    assert cache.get("b", lambda: b"01") == b"01"
