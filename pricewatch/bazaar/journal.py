"""The log of requests: cheap to write, made readable only when somebody asks."""

from collections import deque
from typing import Any

from pricewatch.bazaar.messages import Request, headers_of

KEPT = 200_000

# number, time, method, host, target, status, action, head, client, proxy
_Line = tuple[int, float, str, str, str, int | None, str | None, str, str, int | None]


class Journal:
    """The last requests, numbered from one; numbers go on after it was cleared."""

    def __init__(self) -> None:
        self._lines: deque[_Line] = deque(maxlen=KEPT)
        self._written = 0

    def record(self, request: Request, status: int | None, action: str | None) -> None:
        """Write one line; the status is None where none was sent."""
        self._written += 1
        self._lines.append(
            (
                self._written,
                request.arrived,
                request.method,
                request.host,
                request.target,
                status,
                action,
                request.head,
                request.client,
                request.proxy,
            )
        )

    def clear(self) -> None:
        """Forget all lines."""
        self._lines.clear()

    def since(self, number: int) -> list[dict[str, Any]]:
        """Return the lines after that number, oldest first."""
        return [_readable(line) for line in self._lines if line[0] > number]


def _readable(line: _Line) -> dict[str, Any]:
    number, at, method, host, target, status, action, head, client, proxy = line
    headers = headers_of(head)
    return {
        "n": number,
        "time": at,
        "method": method,
        "host": host,
        "path": target,
        "status": status,
        "action": action,
        "user_agent": next((value for name, value in headers.items() if name.lower() == "user-agent"), None),
        "headers": headers,
        "client": client,
        "proxy": proxy,
    }
