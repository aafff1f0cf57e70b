"""Serves an ASGI application as a Twisted resource, at the pace at which the client takes the response."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, wait
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import anyio.to_thread
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Scope
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IPushProducer
from twisted.internet.threads import deferToThread
from twisted.logger import Logger
from twisted.web import http
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request
from zope.interface import implementer

log = Logger()
CHUNK = 64 * 1024
# The time that running requests have to end when the server stops.
STOP_SECONDS = 5
_IN_QUERY = "%&=+!$'()*,;:@/?-._~[]"


class AsgiResource(Resource):
    """Runs the application on an event loop of its own; blocking calls take one of `threads` threads."""

    isLeaf = True  # noqa: N815 - twisted's name

    def __init__(self, reactor: Any, application: ASGIApp, threads: int) -> None:
        super().__init__()
        self._reactor = reactor
        self._application = application
        self._loop = asyncio.new_event_loop()
        self._running: set[Future[None]] = set()
        asyncio.run_coroutine_threadsafe(_limit_threads(threads), self._loop)
        reactor.callWhenRunning(threading.Thread(target=self._loop.run_forever, daemon=True).start)
        reactor.addSystemEventTrigger("before", "shutdown", self._wait_for_requests)
        reactor.addSystemEventTrigger("during", "shutdown", self._loop.call_soon_threadsafe, self._loop.stop)

    def render(self, request: Request) -> int:
        exchange = _Exchange(self._reactor, self._loop, request)
        running = asyncio.run_coroutine_threadsafe(exchange.run(self._application), self._loop)
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return NOT_DONE_YET

    def _wait_for_requests(self) -> Deferred[Any]:
        return deferToThread(wait, set(self._running), STOP_SECONDS)


async def _limit_threads(threads: int) -> None:
    anyio.to_thread.current_default_thread_limiter().total_tokens = threads


@implementer(IPushProducer)
class _Exchange:
    """One request and its response. Methods without `async` run in the reactor's thread."""

    def __init__(self, reactor: Any, loop: asyncio.AbstractEventLoop, request: Request) -> None:
        self._reactor = reactor
        self._loop = loop
        self._request: Any = request
        self._scope = scope_of(request)
        self._start: Message | None = None
        self._is_body_read = False
        self._is_paused = False
        self._is_over = False
        self._waiting: asyncio.Future[bool] | None = None
        self._disconnected = asyncio.Event()
        self._request.defaultContentType = None
        self._request.registerProducer(self, True)
        self._request.notifyFinish().addErrback(self._client_left)

    async def run(self, application: ASGIApp) -> None:
        try:
            await application(self._scope, self._receive, self._send)
        except ClientDisconnect:
            log.info("A client left before {path!r} had its body", path=self._scope["path"])
        except Exception:  # noqa: BLE001 - every request gets a response
            log.failure("A request failed")
            self._start = None
        finally:
            self._reactor.callFromThread(self._end)

    async def _receive(self) -> Message:
        if not self._is_body_read:
            try:
                body = self._request.content.read(CHUNK)
            except ValueError:
                # The file is closed when the client leaves.
                return {"type": "http.disconnect"}
            self._is_body_read = len(body) < CHUNK
            return {"type": "http.request", "body": body, "more_body": not self._is_body_read}
        await self._disconnected.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        """Return when the client has room for more; raise if it has left before the end."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        written: asyncio.Future[bool] = self._loop.create_future()
        is_last = not message.get("more_body", False)
        self._reactor.callFromThread(self._write, message.get("body", b""), is_last, written)
        if not await written and not is_last:
            raise ConnectionResetError("The client has left.")

    def _write(self, body: bytes, is_last: bool, written: asyncio.Future[bool]) -> None:
        if self._is_over:
            self._resolve(written, False)
            return
        if not self._request.startedWriting:
            self._set_headers()
        self._request.write(body)
        # Of a response to HEAD, twisted writes only the headers: the rest of the body is not needed.
        if is_last or self._request.method == b"HEAD":
            self._finish()
            self._resolve(written, is_last)
        elif self._is_paused:
            self._waiting = written
        else:
            self._resolve(written, True)

    def _set_headers(self) -> None:
        start = self._start or {"status": http.INTERNAL_SERVER_ERROR, "headers": ()}
        self._request.setResponseCode(start["status"])
        for name, value in start["headers"]:
            self._request.responseHeaders.addRawHeader(name, value)

    def _finish(self) -> None:
        self._is_over = True
        self._request.unregisterProducer()
        self._request.finish()

    def _end(self) -> None:
        """End a response that the application has not completed."""
        if self._is_over:
            return
        if self._request.startedWriting:
            # Without the last chunk, the client notices that the response is incomplete.
            self._request.transport.abortConnection()
        else:
            self._set_headers()
            self._finish()

    def _client_left(self, _: Any) -> None:
        self._is_over = True
        self._loop.call_soon_threadsafe(self._disconnected.set)
        self._resume(False)

    def _resume(self, is_written: bool) -> None:
        if self._waiting is not None:
            self._resolve(self._waiting, is_written)
            self._waiting = None

    def _resolve(self, written: asyncio.Future[bool], result: bool) -> None:
        def resolve() -> None:
            if not written.done():
                written.set_result(result)

        self._loop.call_soon_threadsafe(resolve)

    def pauseProducing(self) -> None:  # noqa: N802 - twisted's name
        self._is_paused = True

    def resumeProducing(self) -> None:  # noqa: N802 - twisted's name
        self._is_paused = False
        self._resume(True)

    def stopProducing(self) -> None:  # noqa: N802 - twisted's name
        """The connection is about to be lost; notifyFinish reports it."""


def scope_of(request: Any) -> Scope:
    """The request as ASGI describes it."""
    peer, host = request.getClientAddress(), request.getHost()
    query = request.uri.partition(b"?")[2]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": request.clientproto.decode().partition("/")[2],
        # FastAPI declares no route for HEAD, which must be answered like GET.
        "method": "GET" if request.method == b"HEAD" else request.method.decode(),
        "scheme": "http",
        "path": unquote_to_bytes(request.path).decode("utf-8", "replace"),
        "raw_path": request.path,
        "root_path": "",
        "query_string": quote(query, safe=_IN_QUERY).encode(),
        "headers": [
            (name.lower(), value)
            for name, values in request.requestHeaders.getAllRawHeaders()
            for value in values
        ],
        "client": (getattr(peer, "host", ""), getattr(peer, "port", 0)),
        "server": (getattr(host, "host", ""), getattr(host, "port", None)),
    }
