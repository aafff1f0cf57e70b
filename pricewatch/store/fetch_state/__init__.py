"""State that all fetching processes share: robots.txt files, proxy blocks and fetch policies of sources.

The rate limiter has its own backends in `fetching.rate_limit`.
"""
