"""Components that the downloader middlewares use: rate limiter, browser, proxies, name resolution, downloads.

No middleware lives here, and nothing that reads a page.
"""
