"""Chromium for pages that need JavaScript: finding it, starting it, and what a page may load.

Everything it sends goes through the forward proxy of this package, which checks every address.
"""
