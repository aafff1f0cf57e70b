"""The sample marketplace: a real HTTP server in its own process, for tests, demo and benchmarks.

It knows the ground truth about every listing and produces faults on request. It imports nothing else from
pricewatch; other packages control it with `client` and crawl it over HTTP.
"""
