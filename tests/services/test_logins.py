"""Logins against a real database: who is let in, and how wrong passwords are counted."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from pricewatch import clock
from pricewatch.rules.access.login_delay import FREE_FAILURES, MOST_PER_HOUR, UNKNOWN_NAMES
from pricewatch.services import logins as login_service
from pricewatch.services import password_hash
from pricewatch.services.logins import LoginResult, Logins
from pricewatch.services.password_hash import hash_password, is_password
from pricewatch.services.people_admin import AdminAction
from pricewatch.services.token_admin import make, revoke
from pricewatch.store.people import login_failures, person_rows
from pricewatch.vocabulary import AccessRole
from tests.databases import Database

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ADMIN = ("root", "the environment's password")
CAROL = ("carol", "a violet bicycle")
# The parameters are stored with the hash, so that tests need not wait for the usual ones.
QUICK = hash_password(CAROL[1], cost=16, parallel=1)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(password_hash, "NO_PASSWORD", hash_password("", cost=16, parallel=1))
    set_time(monkeypatch, NOW)


def set_time(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    monkeypatch.setattr(clock, "now", lambda: moment)


@pytest.fixture
def logins(database: Database) -> Logins:
    for name in ("carol", "dave"):
        values = {"name": name, "role": "operate", "password_hash": QUICK, "by": "x", "now": NOW}
        database.call(person_rows.add, **values)
    return Logins(database.engine, *ADMIN)


def fail(logins: Logins, name: str, address: str, times: int = FREE_FAILURES + 3) -> LoginResult:
    """Enter wrong passwords until the next attempt has to wait."""
    for _ in range(times):
        result = logins.check_password(name, "a wrong password", address)
        assert result.account is None
    return result


def attempt(logins: Logins, name: str = CAROL[0], address: str = "198.51.100.1") -> LoginResult:
    password = ADMIN[1] if name == ADMIN[0] else CAROL[1]
    return logins.check_password(name, password, address)


def test_the_administrator_and_people_log_in(logins: Logins, database: Database) -> None:
    for name, role in (
        (ADMIN[0], AccessRole.ADMIN),
        ("carol", AccessRole.OPERATE),
        (" Carol ", AccessRole.OPERATE),
    ):
        account = attempt(logins, name).account
        assert account is not None
        assert (account.name, account.role) == (name.strip().lower(), role)
    for name, password in (("carol", ADMIN[1]), (ADMIN[0], CAROL[1]), ("nobody", CAROL[1]), ("", "")):
        assert logins.check_password(name, password, "::1") == LoginResult(None)
    database.do("UPDATE people SET enabled = false WHERE name = 'carol'")
    assert attempt(logins).account is None


def test_password_hashes_have_a_salt_and_their_parameters() -> None:
    first, second = hash_password("a violet bicycle"), hash_password("a violet bicycle")
    assert first != second
    assert first.startswith("scrypt$65536$8$1$")
    assert is_password("a violet bicycle", first)
    assert not is_password("a violet bicyclE", first)
    assert is_password("caf\u00e9 at the corner", hash_password("cafe\u0301 at the corner", 16, 1))
    assert not is_password("x" * 100_000, first)


def test_parallel_wrong_passwords_are_not_checked_beyond_the_free_ones(
    logins: Logins, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attempts begin at the same moment; no more are checked than one after the other would be."""
    # As on many nodes: each of them checks only two passwords at the same time.
    for semaphore in ("_checks", "_admitted"):
        monkeypatch.setattr(login_service, semaphore, threading.BoundedSemaphore(24))
    slow = hash_password(CAROL[1], cost=2**13, parallel=1)
    database.do("UPDATE people SET password_hash = :slow WHERE name = 'carol'", slow=slow)
    start = threading.Barrier(24)

    def guess(number: int) -> LoginResult:
        start.wait()
        return logins.check_password("carol", f"guess {number}", "198.51.100.1")

    with ThreadPoolExecutor(24) as threads:
        results = list(threads.map(guess, range(24)))
    checked = [result for result in results if not result.wait]
    assert len(checked) == FREE_FAILURES + 1
    assert database.value("SELECT failures FROM login_failures WHERE address LIKE '198%'") == len(checked)
    # Nor is the right one: its refusal looks like the others'.
    assert attempt(logins).wait > 0


def test_parallel_correct_passwords_all_succeed(logins: Logins, database: Database) -> None:
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda _: attempt(logins, ADMIN[0]), range(16)))
    assert all(result.account for result in results)
    assert database.value("SELECT count(*) FROM login_failures") == 0


def test_of_many_passwords_at_once_some_are_refused_unchecked(
    logins: Logins, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their threads are needed for sessions and tokens."""
    monkeypatch.setattr(login_service, "_checks", checks := threading.BoundedSemaphore(2))
    admitted = login_service.CONCURRENT_CHECKS + login_service.WAITING_CHECKS
    with checks, checks, ThreadPoolExecutor(admitted + 5) as threads:
        pending = [threads.submit(attempt, logins, ADMIN[0]) for _ in range(admitted + 5)]
        refused = [done.result() for done in islice(as_completed(pending), 5)]
        assert [result.wait > 0 for result in refused] == [True] * 5
        token = database.call(make, AdminAction("x", NOW), name="p", role="read")[1]
        assert logins.find_token(token, "127.0.0.1", NOW) is not None
        checks.release(2)
        assert sum(done.result().account is not None for done in pending) == admitted
        assert checks.acquire(timeout=60)
        assert checks.acquire(timeout=60)
    assert database.value("SELECT count(*) FROM login_failures") == 0


def test_attempts_while_waiting_do_not_prolong_the_wait(
    logins: Logins, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fail(logins, "carol", "198.51.100.1").wait
    assert first > 0
    assert fail(logins, "carol", "198.51.100.1").wait <= first
    set_time(monkeypatch, NOW + timedelta(seconds=2))
    assert attempt(logins).account is not None
    # The count begins again after a login.
    assert fail(logins, "carol", "198.51.100.1", FREE_FAILURES).wait == 0


def test_another_name_at_the_same_address_does_not_wait(logins: Logins) -> None:
    """Behind a reverse proxy that is not declared, everybody has the proxy's address."""
    for name in ("carol", *(f"name{number}" for number in range(200))):
        fail(logins, name, "127.0.0.1", FREE_FAILURES + 1)
    assert attempt(logins, "carol", "127.0.0.1").wait > 0
    assert attempt(logins, "dave", "127.0.0.1").account is not None
    assert attempt(logins, ADMIN[0], "127.0.0.1").account is not None


def test_invented_names_share_a_few_rows(logins: Logins, database: Database) -> None:
    for number in range(300):
        logins.check_password(f"invented {number}", "x", "127.0.0.1")
    assert database.value("SELECT count(*) FROM login_failures") <= UNKNOWN_NAMES


def test_the_oldest_rows_are_deleted_beyond_a_number(
    logins: Logins, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login_failures, "MOST_ROWS", 20)
    for number in range(60):
        set_time(monkeypatch, NOW + timedelta(seconds=number))
        logins.check_password("nobody", "x", f"2001:db8:{number:x}::1")
    assert database.value("SELECT count(*) FROM login_failures") == 20
    assert database.value("SELECT count(*) FROM login_failures WHERE address LIKE '2001:db8:3b:%'") == 1


def test_addresses_of_one_ipv6_network_are_counted_together(logins: Logins) -> None:
    for number in range(FREE_FAILURES + 1):
        logins.check_password("carol", "wrong", f"2001:db8:1:2::{number:x}")
    assert attempt(logins, "carol", "2001:db8:1:2:ffff::1").wait > 0
    assert attempt(logins, "carol", "2001:db8:1:3::1").account is not None


def test_a_name_has_a_limit_per_hour_from_all_addresses(
    logins: Logins, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(MOST_PER_HOUR):
        logins.check_password("carol", "wrong", f"198.51.100.{number}")
    assert attempt(logins, "carol", "203.0.113.1").wait > 3500
    assert attempt(logins, "dave", "203.0.113.1").account is not None
    set_time(monkeypatch, NOW + timedelta(hours=1, seconds=1))
    assert attempt(logins, "carol", "203.0.113.1").account is not None


def test_failures_from_elsewhere_do_not_lock_out_a_person_at_a_known_address(
    logins: Logins, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, elsewhere = "2001:db8:1:1::7", "203.0.113.1"
    for name in ("carol", "dave"):
        account = attempt(logins, name, home).account
        assert account is not None
        if name == "carol":
            logins.open_session(account, home, "", NOW)
    for name in ("carol", "dave"):
        for network in range(MOST_PER_HOUR + 5):
            logins.check_password(name, "wrong", f"2001:db8:2:{network:x}::1")
    assert attempt(logins, "carol", elsewhere).wait > 3500
    # Another address of the same network, at home.
    assert attempt(logins, "carol", "2001:db8:1:1::8").account is not None
    # A password that was right is not enough: dave has opened no session, and carol only her own.
    assert attempt(logins, "dave", home).wait > 3500
    # Failures at the known address delay as everywhere.
    assert 0 < fail(logins, "carol", home).wait < 60
    assert attempt(logins, "carol", home).wait > 0
    # An address is known for 30 days.
    for days, is_known in ((29, True), (31, False)):
        set_time(monkeypatch, NOW + timedelta(days=days))
        for network in range(MOST_PER_HOUR):
            logins.check_password("carol", "wrong", f"2001:db8:2:{network:x}::1")
        assert (attempt(logins, "carol", home).account is not None) is is_known


def test_an_address_has_a_limit_per_hour_if_it_is_the_clients(logins: Logins, database: Database) -> None:
    declared = Logins(database.engine, *ADMIN, has_client_addresses=True)
    for number in range(MOST_PER_HOUR):
        declared.check_password(f"name {number % 16}{number}", "wrong", "198.51.100.1")
        # Only the limit of the address is of interest here.
        database.do("DELETE FROM login_failures WHERE address LIKE '% %'")
    assert attempt(declared, "dave", "198.51.100.1").wait > 3500
    assert attempt(declared, "dave", "198.51.100.2").account is not None
    assert attempt(logins, "dave", "198.51.100.9").account is not None


def test_wrong_tokens_are_counted_but_a_valid_one_never_waits(logins: Logins, database: Database) -> None:
    actor = AdminAction("ada", NOW)
    _, token = database.call(make, actor, name="prometheus", role="read", expires_days=10)
    assert token.startswith("pw_")
    results = [logins.check_token(f"pw_{number}", "198.51.100.1", NOW) for number in range(8)]
    assert [bool(result.wait) for result in results] == [False] * (FREE_FAILURES + 1) + [True] * 3
    account = logins.check_token(token, "198.51.100.1", NOW).account
    assert account is not None
    assert (account.name, account.role) == ("token prometheus", AccessRole.READ)
    assert token not in str(database.rows("SELECT * FROM access_tokens")) + str(
        database.rows("SELECT * FROM audit")
    )
    assert logins.check_token(token, "203.0.113.1", NOW + timedelta(days=11)).account is None
    database.call(revoke, actor, name="prometheus")
    assert logins.check_token(token, "203.0.113.1", NOW).account is None


def test_the_use_of_a_token_is_recorded_once_a_minute(logins: Logins, database: Database) -> None:
    _, token = database.call(make, AdminAction("ada", NOW), name="prometheus", role="read")
    for seconds, expected in ((0, 0), (59, 0), (60, 60), (100, 60)):
        logins.check_token(token, f"198.51.100.{seconds}", NOW + timedelta(seconds=seconds))
        used = database.row("SELECT last_used_at, last_used_from FROM access_tokens")
        assert used == (NOW + timedelta(seconds=expected), f"198.51.100.{expected}")


def test_failed_logins_in_the_audit_log_are_bounded(logins: Logins, database: Database) -> None:
    from pricewatch.store.people import audit_log

    fail(logins, "carol", "198.51.100.1")
    entries = database.rows("SELECT person, address, subject, details FROM audit ORDER BY id")
    first, delayed = {"failures": 1}, {"failures": FREE_FAILURES + 1}
    assert entries == [("carol", "198.51.100.1", "password", value) for value in (first, delayed)]
    # A mistyped name may be a password.
    logins.check_password("my secret", "x", "198.51.100.2")
    assert database.value("SELECT person FROM audit WHERE address = '198.51.100.2'") == "unknown"
    database.do(
        "INSERT INTO audit (at, person, action, subject) SELECT :now, 'x', 'login failed', 'password'"
        " FROM generate_series(1, :most)",
        now=NOW,
        most=audit_log.MOST_FAILED_LOGINS,
    )
    logins.check_password("nobody", "x", "203.0.113.77")
    assert database.value("SELECT count(*) FROM audit WHERE address = '203.0.113.77'") == 0
