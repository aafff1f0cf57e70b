"""The generic reader: price and availability on product pages of shops without a specific adapter.

Pure functions of a page, based on `parsing`: no I/O, and nothing that is specific to one shop.
"""
