"""A corpus of generated hostile pages, each read as a crawl reads it: `python -m tests.hostile.corpus`.

A module per family of pages; the other modules read the pages, measure the readings and report them.
"""
