"""The book of turns: one suite over both implementations."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
import redis as redis_client
from sqlalchemy import Connection

from pricewatch.middlewares.redis_turns import RedisTurns
from pricewatch.middlewares.turn_book import TurnBook
from pricewatch.rules.request_budget import Grant, Limit
from pricewatch.store.rate_limits import PostgresTurns

LIMIT = Limit(0.5, 2)
Open = Callable[[], TurnBook]


@pytest.fixture(params=["postgres", "redis"])
def open_book(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens the book as one more process would, with a connection of its own."""
    if request.param == "redis":
        url = request.getfixturevalue("redis_url")
        redis_client.Redis.from_url(url).flushall()
        books: list[RedisTurns] = []

        def another() -> TurnBook:
            books.append(RedisTurns(url))
            return books[-1]

        yield another
        for book in books:
            book.close()
        return
    database = request.getfixturevalue("fetch_database")
    connections: list[Connection] = []

    def one_more() -> TurnBook:
        connections.append(connection := database.engine.connect())
        return PostgresTurns(lambda: connection)

    yield one_more
    for connection in connections:
        connection.close()


@pytest.fixture
def book(open_book: Open) -> TurnBook:
    return open_book()


def reserve(
    book: TurnBook, *tickets: str, limit: Limit = LIMIT, horizon: float = 60, lease: float = 30
) -> list[Grant]:
    return book.reserve("shop.com", tickets, limit, horizon=horizon, lease=lease)


@pytest.mark.parametrize("implementation", [PostgresTurns, RedisTurns])
def test_both_have_every_method_of_the_interface(implementation: type) -> None:
    for name, method in inspect.getmembers(TurnBook, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(getattr(implementation, name)) == inspect.signature(method)


def test_turns_are_an_interval_apart_and_the_first_is_now(book: TurnBook) -> None:
    first, second, third = reserve(book, "a", "b", "c")
    assert first.wait == 0
    assert second.wait - first.wait == pytest.approx(0.5, abs=0.001)
    assert third.wait - first.wait == pytest.approx(1.0, abs=0.001)


def test_the_next_batch_goes_on_where_the_last_one_ended(book: TurnBook) -> None:
    reserve(book, "a", "b", limit=Limit(10, 5))
    (third,) = reserve(book, "c", limit=Limit(10, 5))
    assert 19 < third.wait <= 20


def test_domains_do_not_wait_for_each_other(book: TurnBook) -> None:
    reserve(book, "a", "b", limit=Limit(10, 1))
    (other,) = book.reserve("other.com", ["a"], Limit(10, 1), horizon=60, lease=30)
    assert (other.wait, other.sure) == (0, True)


def test_a_longer_interval_counts_from_the_last_turn_of_anybody(book: TurnBook) -> None:
    reserve(book, "hasty", limit=Limit(0.1, 5))
    (patient,) = reserve(book, "patient", limit=Limit(20, 5))
    assert 19 < patient.wait <= 20


def test_no_turn_is_given_beyond_the_horizon(book: TurnBook) -> None:
    assert [grant.ticket for grant in reserve(book, *"abcd", limit=Limit(10, 9), horizon=25)] == [
        "a",
        "b",
        "c",
    ]
    assert reserve(book, "e", limit=Limit(10, 9), horizon=25) == []
    (later,) = reserve(book, "f", limit=Limit(10, 9), horizon=35)
    assert later.wait > 25


def test_a_turn_is_sure_while_slots_are_left(book: TurnBook) -> None:
    assert [grant.sure for grant in reserve(book, "a", "b", "c")] == [True, True, False]


def test_a_turn_that_is_not_sure_stands_once_a_slot_is_free(book: TurnBook) -> None:
    reserve(book, "a", "b", "c", limit=Limit(0.001, 2))
    book.release("shop.com", ["a"])
    assert book.confirm("shop.com", "c", LIMIT, lease=30)


def test_a_turn_without_a_slot_is_given_up(book: TurnBook) -> None:
    reserve(book, "a", "b", "c", limit=Limit(0.001, 2))
    assert not book.confirm("shop.com", "c", LIMIT, lease=30)
    assert not book.confirm("shop.com", "never given", LIMIT, lease=30)
    book.release("shop.com", ["a"])
    assert [grant.sure for grant in reserve(book, "d", "e")] == [True, False]


def test_who_dies_frees_its_slot(book: TurnBook) -> None:
    reserve(book, "dead", limit=Limit(0.001, 1), lease=0.05)
    time.sleep(0.1)
    assert [grant.sure for grant in reserve(book, "alive", limit=Limit(0.001, 1))] == [True]


def test_who_says_so_keeps_its_slot(book: TurnBook) -> None:
    reserve(book, "slow", limit=Limit(0.001, 1), lease=0.2)
    book.renew("shop.com", ["slow", "unknown"], lease=60)
    time.sleep(0.3)
    assert [grant.sure for grant in reserve(book, "next", limit=Limit(0.001, 1))] == [False]
    assert not book.confirm("shop.com", "next", Limit(0.001, 1), lease=30)


def test_a_hold_is_for_everybody_and_never_shortens(book: TurnBook) -> None:
    book.hold("shop.com", 20)
    book.hold("shop.com", 5)
    (grant,) = reserve(book, "a")
    assert 19 < grant.wait <= 20


def test_a_clock_that_was_set_back_does_not_stop_the_crawl(book: TurnBook) -> None:
    book.hold("shop.com", 7200)
    (grant,) = reserve(book, "a", horizon=600)
    assert grant.wait == 0


def test_many_at_once_share_one_line(open_book: Open) -> None:
    books = [open_book() for _ in range(6)]
    given: list[float] = []
    begun = threading.Barrier(len(books))

    def take(book: TurnBook, name: int) -> None:
        begun.wait()
        for n in range(20):
            at = time.monotonic()
            (grant,) = reserve(book, f"{name}-{n}", limit=Limit(10, 1), horizon=2000)
            given.append(at + grant.wait)

    threads = [threading.Thread(target=take, args=(book, n)) for n, book in enumerate(books)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    turns = sorted(given)
    assert len(turns) == 120
    # Each was read up to a round trip too early; no two may be the same turn.
    assert all(later - earlier > 5 for earlier, later in pairwise(turns))
    assert turns[-1] - turns[0] == pytest.approx(1190, abs=5)


def test_a_turn_may_be_wanted_a_little_ahead(book: TurnBook) -> None:
    first, second = book.reserve("shop.com", ["a", "b"], LIMIT, horizon=60, lease=30, ahead=0.2)
    assert [first.wait, second.wait] == pytest.approx([0.2, 0.7], abs=0.001)
    (third,) = book.reserve("shop.com", ["c"], LIMIT, horizon=60, lease=30, ahead=0.2)
    assert third.told + third.wait == pytest.approx(second.told + second.wait + 0.5, abs=0.001)
