"""What the downloader middlewares stand on: rate limiter, browser, proxies, name resolution, download handler.

No middleware lives here, and nothing that reads a page.
"""
