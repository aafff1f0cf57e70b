"""Request bodies: long ones are refused before they are read, and slow ones are cut."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import httpx
import pytest
from scrapyd.config import Config
from sqlalchemy import create_engine, text
from twisted.internet.address import IPv6Address
from twisted.internet.testing import StringTransport
from twisted.web.resource import Resource

from pricewatch.errors import UserError
from pricewatch.scheduling.service_access import SERVICE_ROLES
from pricewatch.web.auth import Auth
from pricewatch.web.configuration import Configuration
from pricewatch.web.route_roles import ROUTE_ROLES
from pricewatch.web.server.limited_channel import LimitedChannel
from pricewatch.web.server.limited_site import LimitedSite
from pricewatch.web.server.request_limits import CSV_PATHS, EGG_PATHS, MEGABYTE, RequestLimits
from tests.hostile.addresses import addresses
from tests.hostile.calls import as_form, as_parts, check_headers, send
from tests.hostile.connections import basic, open_connection
from tests.scheduling.conftest import ADA
from tests.scheduling.daemons import Daemon
from tests.waiting import until

FORM = "application/x-www-form-urlencoded"
LIMITS = {"/addversion.json": 64 * MEGABYTE, "/targets/import": 20 * MEGABYTE}


def test_a_long_body_is_refused_before_it_is_read(daemon: Daemon) -> None:
    """On every address; only the headers are sent."""
    for method, path in [*addresses(changing=True), ("POST", "/nothing"), ("GET", "/jobs")]:
        limit = LIMITS.get(path, MEGABYTE)
        with open_connection(daemon.port) as connection:
            connection.begin(method, path, Content_Length=str(limit + 1), Expect="100-continue")
            answer = connection.answer()
            assert (answer.status, answer.headers["Connection"]) == (413, "close"), path
            assert f"larger than {limit // MEGABYTE} MB" in answer.body.decode()
            assert connection.is_closed()
        check_headers(answer, path)


def test_a_client_that_sends_everything_first_sees_the_refusal(daemon: Daemon) -> None:
    answer = send(daemon.port, "POST", "/schedule.json", b"x" * (3 * MEGABYTE), Content_Type=FORM)
    assert answer.status == 413


def test_a_body_within_the_limit_is_read(daemon: Daemon) -> None:
    body = as_form([("project", "test"), ("spider", "nobody"), ("filler", "")])
    body += b"x" * (MEGABYTE - len(body))
    answer = send(daemon.port, "POST", "/schedule.json", body, Content_Type=FORM)
    assert answer.json()["message"] == "spider 'nobody' not found"


def test_a_chunked_body_is_cut_at_the_limit(daemon: Daemon) -> None:
    chunk = b"%x\r\n%b\r\n" % (64 * 1024, b"x" * 64 * 1024)
    with open_connection(daemon.port) as connection:
        connection.begin("POST", "/schedule.json", Content_Type=FORM, Transfer_Encoding="chunked")
        for _ in range(17):
            connection.socket.sendall(chunk)
        assert connection.answer().status == 413
        assert connection.is_closed()


@pytest.mark.parametrize(
    ("path", "body", "kind", "status"),
    [
        ("/schedule.json", as_form([("project", "test"), ("spider", "nobody")]), FORM, 200),
        ("/api/targets", b'{"url": "https://10.0.0.1/x"}', "application/json", 400),
    ],
)
def test_a_short_chunked_body_is_read(daemon: Daemon, path: str, body: bytes, kind: str, status: int) -> None:
    with open_connection(daemon.port) as connection:
        connection.begin("POST", path, Content_Type=kind, Transfer_Encoding="chunked", Connection="close")
        connection.socket.sendall(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        answer = connection.answer()
    assert answer.status == status, answer
    assert b"nobody" in answer.body or b"10.0.0.1" in answer.body


@pytest.fixture
def failures_are_forgotten(locked_daemon: Daemon) -> Iterator[None]:
    """Wrong logins would delay other tests on the same daemon."""
    yield
    engine = create_engine(locked_daemon.environment["DATABASE_URL"])
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM login_failures"))
    engine.dispose()


@pytest.mark.usefixtures("failures_are_forgotten")
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("authorization", [None, basic((ADA[0], "wrong")), "Bearer x"])
@pytest.mark.proof
def test_without_a_login_no_large_body_is_read(
    locked_daemon: Daemon, authorization: str | None, chunked: bool
) -> None:
    length = {"Transfer_Encoding": "chunked"} if chunked else {"Content_Length": str(2 * MEGABYTE)}
    for path in LIMITS:
        with open_connection(locked_daemon.port) as connection:
            connection.begin("POST", path, Authorization=authorization, **length)
            assert connection.answer().status == 401, path
            assert connection.is_closed()


def test_with_a_login_an_egg_is_read_up_to_its_limit(locked_daemon: Daemon) -> None:
    egg = as_parts([("project", "test"), ("version", "1"), ("egg", "x" * 2 * MEGABYTE)], "utf-8")
    login = {"Authorization": basic(ADA), "Content_Type": "multipart/form-data; boundary=x"}
    answer = send(locked_daemon.port, "POST", "/addversion.json", egg, **login)
    assert "egg is not a ZIP file" in answer.json()["message"]
    with open_connection(locked_daemon.port) as connection:
        connection.begin("POST", "/addversion.json", Content_Length=str(4 * MEGABYTE), **login)
        assert b"larger than 3 MB" in connection.answer().body


@pytest.mark.parametrize("chunked", [False, True])
def test_an_upload_without_its_role_is_refused_before_it_is_read(
    locked_daemon: Daemon, chunked: bool
) -> None:
    """Only the headers are sent."""
    length = {"Transfer_Encoding": "chunked"} if chunked else {"Content_Length": str(3 * MEGABYTE)}
    for path, role, needed in (
        ("/addversion.json", "read", "admin"),
        ("/addversion.json", "operate", "admin"),
        ("/targets/import", "read", "operate"),
    ):
        name = {"name": f"{role} {path} {chunked}", "role": role}
        created = httpx.post(f"{locked_daemon.url}/api/tokens", json=name, auth=ADA, timeout=60)
        token = created.json()["token"]
        with open_connection(locked_daemon.port) as connection:
            connection.begin("POST", path, Authorization=f"Bearer {token}", **length)
            answer = connection.answer()
            assert answer.status == 403, (path, role)
            assert f"This needs the role {needed}: token {name['name']} has" in answer.body.decode()
            assert connection.is_closed()


def test_the_roles_of_uploads_are_those_of_their_services_and_pages() -> None:
    limits = RequestLimits()
    for path in EGG_PATHS:
        assert limits.upload_role(path) == SERVICE_ROLES[path.removeprefix(b"/")]
    for path in CSV_PATHS:
        assert limits.upload_role(path) == ROUTE_ROLES[f"POST {path.decode()}"]
    longer = {path for path in (*EGG_PATHS, *CSV_PATHS) if limits.body_limit(path) > limits.body}
    assert longer == {path.encode() for path in LIMITS}


@pytest.mark.parametrize("length", ["9" * 5_000, "9" * 19, "0" * 30 + "1"])
def test_a_length_of_thousands_of_digits_is_too_large(daemon: Daemon, length: str) -> None:
    """Python refuses to convert it."""
    with open_connection(daemon.port) as connection:
        connection.begin("POST", "/schedule.json", Content_Length=length)
        answer = connection.answer()
    assert (answer.status, answer.body) == (413, b"The request is larger than 1 MB.\n")
    assert "Traceback" not in daemon.log.read_text()


def test_forms_with_too_many_fields_or_without_an_end_are_refused(daemon: Daemon) -> None:
    kind = {"Content_Type": "multipart/form-data; boundary=x"}
    many = as_parts([("project", "test")] * 1001, "utf-8")
    assert send(daemon.port, "POST", "/schedule.json", many, **kind).status == 400
    for broken in (b"--y\r\n\r\nno\r\n--y--", b"--x\r\nno header\r\n\r\n"):
        assert send(daemon.port, "POST", "/schedule.json", broken, **kind).status == 400


@pytest.mark.proof
def test_a_body_that_trickles_in_is_cut(locked_daemon: Daemon) -> None:
    """Each byte resets the idle timeout of Twisted; the time for the whole body is limited too."""
    with open_connection(locked_daemon.port) as connection:
        connection.begin("POST", "/login", Content_Length="100000", Content_Type=FORM)
        connection.socket.settimeout(0.2)
        began = time.monotonic()
        while time.monotonic() - began < 30:
            try:
                connection.socket.sendall(b"x")
                if connection.socket.recv(1) == b"":
                    return
            except TimeoutError:
                continue
            except ConnectionError:
                return
    pytest.fail("The connection is still open.")


def test_one_address_has_a_limited_number_of_connections(locked_daemon: Daemon) -> None:
    with ExitStack() as stack:
        opened = [stack.enter_context(open_connection(locked_daemon.port)) for _ in range(31)]
        assert opened[-1].is_closed()
        opened[0].begin("GET", "/login", Connection="close")
        assert opened[0].answer().status == 200
    assert send(locked_daemon.port, "GET", "/login").status == 200


def test_all_addresses_together_have_a_limited_number_of_connections(locked_daemon: Daemon) -> None:
    port = locked_daemon.port
    with ExitStack() as stack:
        opened = [stack.enter_context(open_connection(port, f"127.0.1.{last}")) for last in range(1, 35)]
        with open_connection(port, "127.0.2.1"), open_connection(port, "127.0.2.2") as refused:
            assert refused.is_closed()
        # The other one has left.
        until(lambda: is_answered(port, "127.0.2.2"))
        opened[0].begin("GET", "/login", Connection="close")
        assert opened[0].answer().status == 200
    assert "35 connections are open: a new one is refused" in locked_daemon.log.read_text()


def is_answered(port: int, address: str) -> bool:
    with open_connection(port, address) as connection, suppress(ConnectionError):
        connection.begin("GET", "/login", Connection="close")
        return connection.read_all().startswith(b"HTTP/1.1 200 ")
    return False


def test_the_addresses_of_one_ipv6_network_count_together() -> None:
    auth = Auth(Configuration(), create_engine("postgresql+psycopg2://"))
    resource: Resource = Resource()  # type: ignore[no-untyped-call]
    site = LimitedSite(resource, auth, RequestLimits(connections_per_address=2))
    opened: list[LimitedChannel] = []

    def is_accepted(address: str) -> bool:
        peer: Any = IPv6Address("TCP", address, 1)
        channel: Any = site.buildProtocol(peer)
        if channel is not None:
            transport = StringTransport(peerAddress=peer)  # type: ignore[no-untyped-call]
            channel.makeConnection(transport)
            opened.append(channel)
        return channel is not None

    assert is_accepted("2001:db8:1:1::1")
    assert is_accepted("2001:db8:1:1:ffff::2")
    assert not is_accepted("2001:db8:1:1::3")
    assert is_accepted("2001:db8:1:2::1")
    opened.pop(0).connectionLost()
    assert is_accepted("2001:db8:1:1::3")
    for channel in opened:
        channel.connectionLost()


@pytest.mark.parametrize(
    "headers",
    [{"X-Long": "x" * 20_000}, {f"X-{number}": "1" for number in range(600)}],
    ids=["size", "number"],
)
def test_headers_are_limited_in_size_and_number(daemon: Daemon, headers: dict[str, str | None]) -> None:
    with open_connection(daemon.port) as connection:
        connection.begin("GET", "/", **headers)
        with suppress(ConnectionResetError):
            assert connection.socket.recv(100) in (b"", b"HTTP/1.1 400 Bad Request\r\n\r\n")


def test_the_limits_are_read_from_scrapyd_conf() -> None:
    assert RequestLimits.from_config(Config({})) == RequestLimits()
    limits = RequestLimits.from_config(Config({"max_egg_mb": "0.5", "max_stall_seconds": "7"}))
    assert (limits.egg, limits.csv, limits.stall_seconds) == (MEGABYTE // 2, 20 * MEGABYTE, 7)
    for value in ("0", "-1", "much", "inf", "nan"):
        with pytest.raises(UserError, match=r"max_egg_mb in scrapyd.conf must be a number above 0"):
            RequestLimits.from_config(Config({"max_egg_mb": value}))
