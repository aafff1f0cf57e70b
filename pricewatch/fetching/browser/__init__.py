"""Chromium for pages that need JavaScript: how it is found and started, and what a page may load.

All its traffic goes through the forward proxy of this package, which checks every address.
"""
