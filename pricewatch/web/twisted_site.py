"""The web interface as a Twisted resource, which the daemon mounts at `/`."""

from __future__ import annotations

from typing import Any

from twisted.web.resource import Resource

from pricewatch.web.app import create_app
from pricewatch.web.configuration import Configuration
from pricewatch.web.server.asgi_resource import AsgiResource

# A page occupies a thread until it is made; a preview may take a minute.
THREADS = 12


def resource(reactor: Any, configuration: Configuration | None = None) -> Resource:
    """A Twisted resource that serves every path below it."""
    return AsgiResource(reactor, create_app(configuration or Configuration.from_environment()), THREADS)
