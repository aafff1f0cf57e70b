"""The web interface: pages, JSON API and metrics. No rules and no SQL live here.

The daemon mounts `twisted_site.resource(reactor)`; `scrapy web` serves it without the daemon.
"""
