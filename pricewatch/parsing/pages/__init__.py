"""The visible content of a page: prices, availability and notices.

Pure functions of an element tree; the adapters choose between prices.
"""
