"""Sources and markets: which source a URL belongs to, whether it is approved, and what a run needs of both.

Lists of sources and markets for people are in `store.views`.
"""
