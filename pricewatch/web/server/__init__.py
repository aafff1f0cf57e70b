"""How Twisted serves the pages: limits on connections and requests, checks of headers, the bridge to FastAPI.

The daemon and `scrapy web` share it. No pages and no queries here.
"""
