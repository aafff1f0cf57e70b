"""The log of received requests."""

from collections import deque
from typing import Any

from pricewatch.bazaar.http_messages import Request, headers_of

LIMIT = 200_000

# Kept as tuples, because requests are many and the log is rarely read:
# number, time, method, host, target, status, action, head, client, proxy
_Entry = tuple[int, float, str, str, str, int | None, str | None, str, str, int | None]


class RequestLog:
    """The latest requests, numbered from one; `clear` does not reset the numbers."""

    def __init__(self) -> None:
        self._entries: deque[_Entry] = deque(maxlen=LIMIT)
        self._count = 0

    def record(self, request: Request, status: int | None, action: str | None) -> None:
        """Add an entry; the status is None if none was sent."""
        self._count += 1
        self._entries.append(
            (
                self._count,
                request.read_at,
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
        """Delete all entries."""
        self._entries.clear()

    def since(self, number: int) -> list[dict[str, Any]]:
        """Return the entries after this number, oldest first."""
        return [_as_json(entry) for entry in self._entries if entry[0] > number]


def _as_json(entry: _Entry) -> dict[str, Any]:
    number, at, method, host, target, status, action, head, client, proxy = entry
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
