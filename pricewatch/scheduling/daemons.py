"""Daemons as child processes of a command, which starts them and always stops them when it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pricewatch.errors import UserError
from pricewatch.store.engine.private_files import open_private, private_directory

STOP_SECONDS = 90.0


def start(log: Path, *, port: int, node: str | None = None) -> subprocess.Popen[bytes]:
    """Start a daemon in its own session: Ctrl-C reaches only the command, which then stops the daemon."""
    node_variable = {"PRICEWATCH_NODE": node} if node else {}
    private_directory(log.parent)
    # The daemon writes its log itself, to keep it small; this is for what it prints before and besides.
    with open_private(log) as output:
        return subprocess.Popen(
            [sys.executable, "-m", "scrapyd", "--pidfile=", f"--logfile={log.resolve()}"],
            env={
                **os.environ,
                **node_variable,
                "SCRAPYD_HTTP_PORT": str(port),
                "PYTHONPATH": os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH")))),
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def watch(daemons: Sequence[subprocess.Popen[bytes]]) -> int:
    """Wait until this command is interrupted or the last daemon has exited; return the exit code."""
    # SIGINT too: an event loop that ran in this process earlier may have left its own handler.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        while any(daemon.poll() is None for daemon in daemons):
            time.sleep(0.2)
        return 0 if all(daemon.returncode == 0 for daemon in daemons) else 1
    except KeyboardInterrupt:
        return 0
    finally:
        stop(daemons)


def stop(daemons: Sequence[subprocess.Popen[bytes]]) -> None:
    """Stop the daemons and wait for their spiders; a second interrupt kills them at once."""
    try:
        for daemon in daemons:
            if daemon.poll() is None:
                daemon.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        for daemon in daemons:
            daemon.wait(max(0.0, deadline - time.monotonic()))
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        for daemon in daemons:
            daemon.kill()
            daemon.wait()


def check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OverflowError:
            raise UserError(f"{port} is not a port: choose one from 1 to 65535 with --port.") from None
        except OSError:
            raise UserError(
                f"Port {port} is in use, perhaps by another daemon: stop that daemon, "
                "or choose another port with --port."
            ) from None
