"""Security headers of every response: of the pages and the API here, of scrapyd's pages by `web.server`."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pricewatch.web.configuration import Configuration

POLICY = (
    "default-src 'none'; "
    "script-src 'self'; "
    "style-src 'self'; "
    "img-src 'self' data:; "
    "font-src 'self'; "
    "connect-src 'self'; "
    "frame-src 'self'; "
    "form-action 'self'; "
    "frame-ancestors 'none'; "
    "base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
# Browsers use HTTPS only, for a year.
HSTS = {"Strict-Transport-Security": "max-age=31536000"}


def security_headers(configuration: Configuration) -> dict[str, str]:
    return HEADERS | HSTS if configuration.secure_cookies else HEADERS


class SecurityHeaders:
    def __init__(self, app: ASGIApp, configuration: Configuration):
        self._app = app
        self._headers = security_headers(configuration)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/static/"):
                    # A sandboxed frame has an opaque origin, and its page still loads our style sheet.
                    headers["Cross-Origin-Resource-Policy"] = "cross-origin"
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
