"""The rate limiter that all processes share: its client, the backend interface and the two backends.

Its middleware is in `middlewares` and the arithmetic of limits in `rules`; nothing here depends on spiders.
"""
