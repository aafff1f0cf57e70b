"""The server process: start and end."""

import signal
import socket
import subprocess
import sys

import pytest

from pricewatch.bazaar.client import Bazaar, BazaarError
from tests.bazaar.visitor import Visitor

COMMAND = [sys.executable, "-m", "pricewatch.bazaar", "--listings", "20", "--days", "1"]


def run(*options: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen([*COMMAND, *options], stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def test_a_port_in_use_is_reported_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run([*COMMAND, "--port", str(port)], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"The marketplace cannot listen on 127.0.0.1:{port}: ")
        assert done.stderr.count("\n") == 1
        with pytest.raises(BazaarError, match="exit status 1"):
            Bazaar.start(listings=20, days=1, port=port)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_without_output_while_a_client_waits(number: signal.Signals) -> None:
    with run("--proxies", "1") as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        attached = Bazaar.attach(url)
        attached.fault("hang")
        with Visitor(url).connect() as sock:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            while not attached.log():
                pass
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


def test_die_with_parent_ends_it_when_stdin_is_closed() -> None:
    with run("--die-with-parent") as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline().startswith("http://")
        process.stdin.close()
        assert process.wait(60) == 0


def test_while_used_keeps_it_running_while_a_client_is_connected() -> None:
    with run("--while-used") as process:
        assert process.stdout is not None
        assert process.stdin is not None
        url = process.stdout.readline().strip()
        assert Visitor(url).request("/").status == 200
        with Visitor(url).connect() as held:
            held.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert held.recv(1)
            process.stdin.close()
            assert Visitor(url).request("/").status == 200
        assert process.wait(30) == 0


def test_by_default_it_keeps_running_when_stdin_is_closed() -> None:
    with run() as process:
        assert process.stdout is not None
        assert process.stdin is not None
        url = process.stdout.readline().strip()
        process.stdin.close()
        assert Visitor(url).request("/").status == 200
        process.terminate()


@pytest.mark.parametrize(
    "options", [("--live", "0"), ("--listings", "-1"), ("--start", "soon"), ("--port", "70000")]
)
def test_invalid_arguments_are_rejected(options: tuple[str, str]) -> None:
    done = subprocess.run([*COMMAND, *options], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "invalid" in done.stderr


def test_it_works_without_uvloop() -> None:
    block = (
        "import sys; sys.modules['uvloop'] = None; import pricewatch.bazaar.__main__ as bazaar; bazaar.main()"
    )
    command = [sys.executable, "-c", block, "--listings", "20", "--die-with-parent"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        url = process.stdout.readline().strip()
        assert Visitor(url).request("/c/bikes").cards
        Bazaar.attach(url).fault("reset", times=1)
        assert Visitor(url).is_reset("/")
        Bazaar.attach(url).fault("big_body", times=1)
        assert len(Visitor(url).request("/").body) == 12_000_000
        process.stdin.close()
        assert process.wait(60) == 0
