"""The messages between a process and its readers, over a socket.

Results are JSON, and their types are checked, because a page may have taken control of the reader process.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from dataclasses import asdict, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from pricewatch.reading.page_calls import PageCall
from pricewatch.reading.page_task import PageTask

R = TypeVar("R")
_LENGTHS = struct.Struct("!II")
MAX_ANSWER_BYTES = 32 * 1024 * 1024
_RECEIVED_AT_ONCE = 1 << 20


class MessageTooLong(ValueError):
    """The other process announced a message that is longer than allowed."""


def send(connection: socket.socket, header: bytes, body: bytes = b"") -> None:
    connection.sendall(_LENGTHS.pack(len(header), len(body)) + header)
    if body:
        connection.sendall(body)


def receive(
    connection: socket.socket, until: float | None = None, longest: int | None = None
) -> tuple[bytes, bytes]:
    """Return the header and the body of the next message.

    Raises EOFError if the other process has ended, and TimeoutError at the monotonic time `until`.
    """
    lengths = _LENGTHS.unpack(_receive_bytes(connection, _LENGTHS.size, until))
    if longest is not None and sum(lengths) > longest:
        raise MessageTooLong
    return _receive_bytes(connection, lengths[0], until), _receive_bytes(connection, lengths[1], until)


def _receive_bytes(connection: socket.socket, length: int, until: float | None) -> bytes:
    received = bytearray()
    while len(received) < length:
        if until is not None:
            connection.settimeout(max(until - time.monotonic(), 0.001))
        part = connection.recv(min(length - len(received), _RECEIVED_AT_ONCE))
        if not part:
            raise EOFError
        received += part
    return bytes(received)


def encode_task(task: PageTask[Any], seconds: float) -> bytes:
    return json.dumps({"call": task.call.name, "seconds": seconds, "parameters": task.parameters}).encode()


def encode_result(result: Any) -> bytes:
    message = {"type": type(result).__name__, "result": result}
    # The parts of a broken character pair cannot be encoded.
    return json.dumps(message, default=_json_value, ensure_ascii=False).encode("utf-8", "replace")


def decode_result(call: PageCall[R], message: dict[str, Any]) -> R:
    """Return the result of a call; raise ValueError if it is of another type."""
    names = {getattr(result, "__name__", "tuple"): result for result in call.results}
    kind = str(message["type"])
    if kind not in names or "result" not in message:
        raise ValueError(f"{kind[:100]} is not a result of {call.name}")
    result: R = _type_adapter(names[kind]).validate_python(message["result"])
    return result


@cache
def _type_adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _json_value(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.isoformat() if isinstance(value, datetime) else str(value)
