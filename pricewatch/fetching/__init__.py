"""What the middlewares stand on: rate limit, browser, proxies, name resolution, download handler.

No middleware lives here; decisions that need no input or output are in `rules`.
"""
