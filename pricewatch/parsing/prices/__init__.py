"""Prices, numbers and currencies in text, as pure functions.

Nothing here knows about HTML elements; those are in `parsing.pages`.
"""
