"""A connection of a client: refuses long bodies before they are read, and clients that are too slow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.protocol import connectionDone
from twisted.internet.threads import deferToThread
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web import http

from pricewatch import clock
from pricewatch.web.auth import AuthResult, missing_role
from pricewatch.web.server.request_limits import in_megabytes

if TYPE_CHECKING:
    from pricewatch.web.server.limited_site import LimitedSite

log = Logger()
HEADER_SECONDS = 30
MAX_LENGTH_DIGITS = 18
# The time that a refused client has to notice: closing at once would discard the response.
LINGER_SECONDS = 5


class LimitedChannel(http.HTTPChannel):
    """Bodies over `max_body_mb` are read after the login was checked, and those over their limit never."""

    site: LimitedSite
    transport: Any
    _networkProducer: Any  # noqa: N815 - twisted's name
    _path: Any
    body_limit = 0
    is_refused = False
    _deadline: Any = None
    _stalled: Any = None

    def connectionMade(self) -> None:  # noqa: N802 - twisted's name
        self.site.count_connection(self.transport.getPeer(), 1)
        super().connectionMade()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - twisted's name
        self.site.count_connection(self.transport.getPeer(), -1)
        self._cancel_deadline()
        self._cancel_stalled()
        super().connectionLost(reason)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - twisted's name
        if self.is_refused:
            return
        if self._deadline is None and not self._handlingRequest:
            self._deadline = self.callLater(HEADER_SECONDS, self.timeoutConnection)
        super().dataReceived(data)

    def headerReceived(self, line: bytes) -> bool:  # noqa: N802 - twisted's name
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and len(value.strip()) > MAX_LENGTH_DIGITS:
            # Python refuses to convert a number of thousands of digits.
            line = b"Content-Length: " + b"9" * MAX_LENGTH_DIGITS
        return bool(super().headerReceived(line))

    def allHeadersReceived(self) -> None:  # noqa: N802 - twisted's name
        limits, length = self.site.limits, self.length
        self.body_limit = limits.body_limit(self._path.partition(b"?")[0])
        if self._deadline is not None:
            self._deadline.reset(limits.request_seconds)
        if length is not None and length > self.body_limit:
            self.refuse_long_body()
            return
        super().allHeadersReceived()
        if self.body_limit > limits.body and (length is None or length > limits.body):
            self._check_login_first()

    def _check_login_first(self) -> None:
        """Stop reading until the login is checked; the request is checked again when it is complete."""
        if self.site.auth.configuration.is_open:
            return
        self._networkProducer.pauseProducing()
        request = self.requests[-1]
        checked = deferToThread(
            self.site.auth.check_request,
            self._command.decode("latin-1"),
            request.header_values(),
            request.client_address(),
            clock.now(),
        )
        checked.addCallback(self._read_if_allowed, request)
        checked.addErrback(self._login_check_failed, request)

    def _read_if_allowed(self, result: AuthResult, request: Any) -> None:
        needed = self.site.limits.upload_role(self._path.partition(b"?")[0])
        if not self._is_reading(request) or (result.status == http.OK and result.may(needed)):
            self._networkProducer.resumeProducing()
        elif result.status == http.OK:
            self.refuse(http.FORBIDDEN, missing_role(result, needed))
        else:
            self.refuse(result.status, result.reason)

    def _login_check_failed(self, failure: Failure, request: Any) -> None:
        log.failure("The login of an upload could not be checked", failure=failure)
        if self._is_reading(request):
            self.refuse(http.SERVICE_UNAVAILABLE, "The login cannot be checked now: try again.")

    def _is_reading(self, request: Any) -> bool:
        """Whether the request is still incomplete: the client may have left, or sent all of it."""
        return getattr(request, "channel", None) is self and not self._handlingRequest

    def refuse_long_body(self) -> None:
        limit = in_megabytes(self.body_limit)
        self.refuse(http.REQUEST_ENTITY_TOO_LARGE, f"The request is larger than {limit}.")

    def refuse(self, status: int, reason: str) -> None:
        """Answer before the body is read, and read no further."""
        self.is_refused, self.persistent = True, 0
        self._cancel_deadline()
        self.requests[-1].answer_early(self._command, self._path, self._version, status, reason)

    def rawDataReceived(self, data: bytes) -> None:  # noqa: N802 - twisted's name
        if not self.is_refused:
            super().rawDataReceived(data)

    def allContentReceived(self) -> None:  # noqa: N802 - twisted's name
        if not self.is_refused:
            self._cancel_deadline()
            super().allContentReceived()

    def pauseProducing(self) -> None:  # noqa: N802 - twisted's name
        """The client takes less than is sent: it has a limited time to take the rest."""
        self._start_stalled(self.site.limits.stall_seconds)
        super().pauseProducing()

    def resumeProducing(self) -> None:  # noqa: N802 - twisted's name
        self._cancel_stalled()
        super().resumeProducing()

    def loseConnection(self) -> None:  # noqa: N802 - twisted's name
        """Close the connection when everything is sent; a refused client may still be sending."""
        if self.is_refused:
            self._cancel_stalled()
            self._start_stalled(LINGER_SECONDS)
            self._networkProducer.unregisterProducer()
            self.transport.loseWriteConnection()
        else:
            self._start_stalled(self.site.limits.stall_seconds)
            super().loseConnection()

    def _start_stalled(self, seconds: float) -> None:
        if self._stalled is None:
            self._stalled = self.callLater(seconds, self._abort_stalled)

    def _abort_stalled(self) -> None:
        self._stalled = None
        if not self.is_refused:
            log.info("A client that takes no data is disconnected: {peer}", peer=self.transport.getPeer())
        self.transport.abortConnection()

    def _cancel_stalled(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            if self._deadline.active():
                self._deadline.cancel()
            self._deadline = None
