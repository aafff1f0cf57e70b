"""The sample marketplace: a real HTTP server in a process of its own, for tests, demo and benchmarks alike.

It knows the truth about every listing and misbehaves on order. It imports nothing else of pricewatch, and
the crawler must not import it: the two meet over HTTP only (`client.py` steers it from outside).
"""
