"""Free ports for servers that tests start."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

# Below the range of ephemeral ports, so that no outgoing connection uses one.
_PORTS = range(10_000, 32_000)
_TRIES = 100


def free_port(together: int = 1) -> int:
    """Return the first of `together` consecutive free ports."""
    for _ in range(_TRIES):
        # SystemRandom, because parallel test processes may have the same seed.
        port = random.SystemRandom().choice(_PORTS)
        if _are_free(range(port, port + together)):
            return port
    raise AssertionError(f"no free port among {_TRIES}")


def _are_free(ports: range) -> bool:
    with ExitStack() as probes:
        try:
            for port in ports:
                probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
