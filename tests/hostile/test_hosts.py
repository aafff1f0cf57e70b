"""Host and Origin headers of every kind, to every address, without a login and with one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from pricewatch.web.hosts import host_name, is_linked_from_here, is_same_origin
from tests.hostile.addresses import addresses
from tests.hostile.calls import check, send
from tests.hostile.connections import basic
from tests.scheduling.conftest import ADA
from tests.scheduling.daemons import Daemon

MALFORMED_HOSTS = [
    *("", "[", "]", "[::1", "::1", "a b", "<x-enemy>", "a@127.0.0.1", "127.0.0.1:99999", "127.0.0.1:x", "."),
    *("127.0.0.1:6800:1", "127.0.0.1/", "http://127.0.0.1", "b\xfccher.example", "x" * 5_000, "127.0.0.1%00"),
    "127.0.0.1\r\nHost: evil.example",
    "[fe80::1%25eth0]",
]
FOREIGN_HOSTS = ["evil.example", "EVIL.example:6800", "127.0.0.1.evil.example", "[2001:db8::1]", "0x7f.1"]
OWN_HOSTS = ["127.0.0.1:1", "LOCALHOST", "localhost.", "[::1]:6800", "localhost:"]
FOREIGN_ORIGINS = [
    *("", "null", "http://[", "https://evil.example", "http://127.0.0.1.evil.example", "file://"),
    *("http://127.0.0.1@evil.example", "http://127.0.0.1:1", "127.0.0.1", "x" * 5_000, "\xff", "<x-enemy>"),
]


@dataclass
class Mode:
    """A daemon, with or without a login; `login` are the headers of someone who may do everything."""

    daemon: Daemon
    login: dict[str, str] = field(default_factory=dict)

    def status(self, method: str, path: str, **headers: str | None) -> int:
        answer = send(self.daemon.port, method, path, **{**self.login, **headers})
        check(answer, (method, path, headers))
        return answer.status


@pytest.fixture(params=["open", "locked", "logged in"])
def mode(request: pytest.FixtureRequest, daemon: Daemon) -> Iterator[Mode]:
    used = Mode(daemon)
    if request.param != "open":
        used = Mode(request.getfixturevalue("locked_daemon"))
    if request.param == "logged in":
        used.login = {"Authorization": basic(ADA)}
    yield used
    assert "Traceback" not in used.daemon.log.read_text()


@pytest.mark.proof
def test_malformed_hosts_are_refused_everywhere(mode: Mode) -> None:
    every = [*addresses(changing=False), *addresses(changing=True)]
    assert len(every) > 90
    for number, (method, path) in enumerate(every):
        hosts = MALFORMED_HOSTS if path in ("/", "/jobs") else MALFORMED_HOSTS[number % 10 :: 10]
        for host in (*hosts, "[", None):
            assert mode.status(method, path, Host=host) == 400, (method, path, host)


@pytest.mark.proof
def test_foreign_hosts_are_refused_without_a_login(mode: Mode) -> None:
    """DNS rebinding: the name of another site that resolves to this machine."""
    is_open = not mode.login and mode.status("GET", "/api/listings") == 200
    for number, (method, path) in enumerate(addresses(changing=False)):
        host = FOREIGN_HOSTS[number % len(FOREIGN_HOSTS)]
        status = mode.status(method, path, Host=host)
        assert status in (403, 421) or not is_open, (path, host, status)


@pytest.mark.proof
@pytest.mark.parametrize("host", OWN_HOSTS)
def test_names_of_this_machine_are_accepted(mode: Mode, host: str) -> None:
    for path in ("/markets", "/jobs", "/api/listings", "/listprojects.json"):
        assert mode.status("GET", path, Host=host) == mode.status("GET", path), path


@pytest.mark.proof
def test_changes_from_other_origins_are_refused_everywhere(mode: Mode) -> None:
    for number, (method, path) in enumerate(addresses(changing=True)):
        origins = FOREIGN_ORIGINS if path == "/schedule.json" else FOREIGN_ORIGINS[number % 4 :: 4]
        for origin in origins:
            assert mode.status(method, path, Origin=origin) == 403, (path, origin)
        for other in ("cross-site", "same-site"):
            assert mode.status(method, path, Sec_Fetch_Site=other) == 403, (path, other)
        assert mode.status(method, path, Origin="http://127.0.0.1\r\nOrigin: x") == 400, path


@pytest.mark.proof
def test_odd_origins_do_not_break_pages(mode: Mode) -> None:
    for number, (method, path) in enumerate(addresses(changing=False)):
        origin = FOREIGN_ORIGINS[number % len(FOREIGN_ORIGINS)]
        assert mode.status(method, path, Origin=origin) < 500


@pytest.mark.parametrize(
    "target", ["http://evil.example/", "jobs", "/jobs\x80", "/logs/%00", "/logs/%ff/", "*"]
)
def test_odd_targets_get_a_response(daemon: Daemon, target: str) -> None:
    assert send(daemon.port, "GET", target).status in (200, 400, 404, 405)
    assert "Traceback" not in daemon.log.read_text()


@pytest.mark.parametrize(
    ("header", "name"),
    [
        *(("Example.COM:80", "example.com"), ("localhost.", "localhost"), ("[::1]:6800", "::1")),
        *((malformed, None) for malformed in MALFORMED_HOSTS),
    ],
)
def test_the_name_of_a_host(header: str, name: str | None) -> None:
    assert host_name(header) == name


@pytest.mark.parametrize(
    ("headers", "same", "linked"),
    [
        ({}, True, True),
        ({"origin": "https://a.example"}, True, True),
        ({"origin": "https://A.example"}, True, True),
        ({"referer": "https://a.example/page"}, True, True),
        ({"sec-fetch-site": "none"}, True, True),
        ({"sec-fetch-site": "same-origin"}, True, True),
        ({"referer": "https://b.example/a.example"}, True, False),
        ({"sec-fetch-site": "same-site"}, False, False),
        ({"sec-fetch-site": "cross-site"}, False, False),
        *(({"origin": origin}, False, False) for origin in FOREIGN_ORIGINS),
    ],
)
def test_the_site_that_sent_a_request(headers: dict[str, str], same: bool, linked: bool) -> None:
    sent = {"host": "a.example", **headers}
    assert (is_same_origin(sent), is_linked_from_here(sent)) == (same, linked)
