"""The limiter backends: one suite over both."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
import redis as redis_client
from sqlalchemy import Connection

from pricewatch.fetching.rate_limit.backend import LimiterBackend, Refusal
from pricewatch.fetching.rate_limit.postgres import PostgresBackend
from pricewatch.fetching.rate_limit.redis import RedisBackend
from pricewatch.rules.request_budget import Limit
from tests.waiting import until

LIMIT = Limit(0.5, 2)
QUICK = Limit(0.001, 1)
Open = Callable[[], LimiterBackend]


@pytest.fixture(params=["postgres", "redis"])
def open_backend(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Return a function that opens the backend with a new connection, as another process would."""
    if request.param == "redis":
        url = request.getfixturevalue("redis_url")
        redis_client.Redis.from_url(url).flushall()
        backends: list[RedisBackend] = []

        def open_redis() -> LimiterBackend:
            backends.append(RedisBackend(url))
            return backends[-1]

        yield open_redis
        for backend in backends:
            backend.close()
        return
    database = request.getfixturevalue("fetch_database")
    connections: list[Connection] = []

    def open_postgres() -> LimiterBackend:
        connections.append(connection := database.engine.connect())
        return PostgresBackend(lambda: connection)

    yield open_postgres
    for connection in connections:
        connection.close()


@pytest.fixture
def backend(open_backend: Open) -> LimiterBackend:
    return open_backend()


def reserve(
    backend: LimiterBackend, ticket: str, limit: Limit = LIMIT, *, max_wait: float = 60, lease: float = 30
) -> float | Refusal:
    return backend.reserve("shop.com", ticket, limit, max_wait=max_wait, lease=lease)


@pytest.mark.parametrize("implementation", [PostgresBackend, RedisBackend])
def test_backends_implement_the_interface(implementation: type) -> None:
    for name, method in inspect.getmembers(LimiterBackend, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(getattr(implementation, name)) == inspect.signature(method)


def test_the_first_moment_is_now_and_the_next_an_interval_later(backend: LimiterBackend) -> None:
    assert reserve(backend, "a", Limit(10, 9)) == 0
    assert [reserve(backend, ticket, Limit(10, 9)) for ticket in "bc"] == pytest.approx([10, 20], abs=1)


def test_domains_do_not_wait_for_each_other(backend: LimiterBackend) -> None:
    reserve(backend, "a", Limit(10, 1))
    assert backend.reserve("other.com", "b", Limit(10, 1), max_wait=60, lease=30) == 0


def test_a_longer_interval_counts_from_the_last_reservation_of_any_process(backend: LimiterBackend) -> None:
    reserve(backend, "quick", Limit(0.1, 5))
    assert reserve(backend, "slow", Limit(20, 5)) == pytest.approx(20, abs=1)


def test_nothing_is_reserved_beyond_the_longest_wait(backend: LimiterBackend) -> None:
    slow = Limit(10, 9)
    assert [reserve(backend, ticket, slow, max_wait=15) for ticket in "ab"] == pytest.approx([0, 10], abs=1)
    assert reserve(backend, "c", slow, max_wait=15) is Refusal.TOO_FAR
    assert reserve(backend, "d", slow, max_wait=60) == pytest.approx(20, abs=1)


def test_nothing_is_reserved_while_all_slots_are_leased(backend: LimiterBackend) -> None:
    assert isinstance(reserve(backend, "a"), float)
    assert isinstance(reserve(backend, "b"), float)
    assert reserve(backend, "c") is Refusal.FULL
    backend.release("shop.com", "a")
    wait = reserve(backend, "d", Limit(10, 2))
    # The third moment: the refusal used up none.
    assert isinstance(wait, float)
    assert 9 < wait <= 10.5


def test_releasing_an_unknown_ticket_frees_no_slot(backend: LimiterBackend) -> None:
    reserve(backend, "a", QUICK)
    backend.release("shop.com", "unknown")
    assert reserve(backend, "b", QUICK) is Refusal.FULL


def test_the_slot_of_a_dead_process_becomes_free(backend: LimiterBackend) -> None:
    reserve(backend, "dead", QUICK, lease=1)
    assert reserve(backend, "early", QUICK) is Refusal.FULL
    until(lambda: isinstance(reserve(backend, "alive", QUICK), float))


def test_a_renewed_slot_stays_leased(backend: LimiterBackend) -> None:
    reserve(backend, "slow", QUICK, lease=1)
    backend.renew("shop.com", ["slow", "unknown"], lease=60)
    time.sleep(1.2)
    assert reserve(backend, "next", QUICK) is Refusal.FULL
    backend.release("shop.com", "slow")
    assert isinstance(reserve(backend, "next", QUICK), float)


def test_a_hold_counts_for_all_processes_and_is_never_shortened(open_backend: Open) -> None:
    backend = open_backend()
    backend.hold("shop.com", 20)
    backend.hold("shop.com", 5)
    assert reserve(open_backend(), "a") == pytest.approx(20, abs=1)


def test_a_clock_that_was_set_back_does_not_stop_the_crawl(backend: LimiterBackend) -> None:
    backend.hold("shop.com", 7200)
    assert reserve(backend, "a", max_wait=600) == 0
    assert reserve(backend, "b", max_wait=600) == pytest.approx(0.5, abs=0.4)


def test_a_lease_from_before_the_clock_was_set_back_is_free(backend: LimiterBackend) -> None:
    reserve(backend, "dead", QUICK, lease=7200)
    assert isinstance(reserve(backend, "alive", QUICK, max_wait=600), float)


def test_no_two_processes_get_the_same_moment(open_backend: Open) -> None:
    backends = [open_backend() for _ in range(6)]
    moments: list[float] = []
    started = threading.Barrier(len(backends))

    def take(backend: LimiterBackend, name: int) -> None:
        started.wait()
        for n in range(20):
            before = time.monotonic()
            wait = reserve(backend, f"{name}-{n}", Limit(10, 1000), max_wait=2000)
            assert isinstance(wait, float)
            moments.append(before + wait)

    threads = [threading.Thread(target=take, args=(backend, n)) for n, backend in enumerate(backends)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    moments.sort()
    assert len(moments) == 120
    # Each is up to a round trip too early.
    assert all(later - earlier > 5 for earlier, later in pairwise(moments))
    assert moments[-1] - moments[0] == pytest.approx(1190, abs=5)


def test_racing_processes_never_lease_more_slots_than_there_are(open_backend: Open) -> None:
    backends = [open_backend() for _ in range(6)]
    started = threading.Barrier(len(backends))
    results: list[float | Refusal] = []

    def take(backend: LimiterBackend, name: int) -> None:
        started.wait()
        results.extend(reserve(backend, f"{name}-{n}", Limit(0.001, 4)) for n in range(5))

    threads = [threading.Thread(target=take, args=(backend, n)) for n, backend in enumerate(backends)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(result, float) for result in results) == 4
    assert results.count(Refusal.FULL) == 26
