"""The web interface: pages, JSON API and metrics. No rules and no SQL live here.

The daemon mounts `twisted_site.resource(reactor)`; `scrapy web` serves the same resource without the daemon.
"""
