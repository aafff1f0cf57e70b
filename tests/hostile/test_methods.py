"""Methods other than GET and POST: HEAD has the status and headers of GET, and no body."""

from __future__ import annotations

from tests.hostile.addresses import service_methods
from tests.hostile.calls import send
from tests.scheduling.daemons import Daemon


def test_services_answer_head_as_get_without_the_body(daemon: Daemon) -> None:
    for path, method in service_methods().items():
        got, head = send(daemon.port, "GET", path), send(daemon.port, "HEAD", path)
        assert (head.status, head.body) == (200, b""), path
        if method == "POST":
            assert got.json()["message"] == "method not allowed; use OPTIONS, POST"
            assert head.headers["Content-Length"] == str(len(got.body))
    assert "Traceback" not in daemon.log.read_text()


def test_pages_and_api_answer_head_as_get_without_the_body(daemon: Daemon) -> None:
    for path in ("/", "/listings", "/api/listings", "/api/export/listings.csv", "/no-such-page", "/login"):
        got, head = send(daemon.port, "GET", path), send(daemon.port, "HEAD", path)
        assert (head.status, head.body) == (got.status, b""), path
        assert head.headers["Content-Type"] == got.headers["Content-Type"], path
    assert "Traceback" not in daemon.log.read_text()
