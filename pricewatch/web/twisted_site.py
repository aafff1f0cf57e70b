"""The web interface as a Twisted resource, which the daemon mounts at `/`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from a2wsgi import ASGIMiddleware
from twisted.python.threadpool import ThreadPool
from twisted.web.resource import Resource
from twisted.web.wsgi import WSGIResource

from pricewatch.web.app import create_app
from pricewatch.web.configuration import Configuration

# A request occupies a thread until it is answered; a preview may take a minute.
THREADS = 12


def resource(reactor: Any, configuration: Configuration | None = None) -> Resource:
    """A Twisted resource that serves every path below it on its own thread pool."""
    application = ASGIMiddleware(create_app(configuration or Configuration.from_environment()))  # type: ignore[arg-type]
    threads = ThreadPool(0, THREADS, "web")
    reactor.callWhenRunning(threads.start)
    reactor.addSystemEventTrigger("during", "shutdown", threads.stop)

    def ascii_only(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["QUERY_STRING"] = quote(
            environ.get("QUERY_STRING", "").encode("latin-1"), safe="%&=+!$'()*,;:@/?-._~[]"
        )
        environ["PATH_INFO"] = (
            environ.get("PATH_INFO", "")
            .encode("latin-1")
            .decode("utf-8", "replace")
            .encode()
            .decode("latin-1")
        )
        return application(environ, start_response)  # type: ignore[arg-type]

    site: Resource = WSGIResource(reactor, threads, ascii_only)  # type: ignore[no-untyped-call, assignment]
    return site
