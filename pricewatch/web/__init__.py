"""People and programs looking in: pages, JSON API, metrics. No rules and no SQL live here.

`site.resource(reactor)` is what the daemon mounts; `scrapy web` serves the same on its own.
"""
