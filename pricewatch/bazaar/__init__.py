"""The sample marketplace: a real HTTP server in its own process, for tests, demo and benchmarks.

It knows the ground truth about every listing and produces faults on request. It imports nothing else of
pricewatch, and the crawler must not import it: they communicate over HTTP only. `client.py` controls it.
"""
