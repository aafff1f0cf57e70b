"""The generic reader: the price and availability on product pages of shops that have no adapter of their own.

Pure functions of a page, built on `parsing`; no I/O, and nothing that is specific to one shop.
"""
