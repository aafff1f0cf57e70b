"""What fetching shares between processes: robots.txt files, proxy blocks, fetch policies of sources.

The rate limiter has backends of its own, in `fetching.rate_limit`.
"""
