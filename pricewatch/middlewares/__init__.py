"""Downloader middlewares, one per file; a setting disables each of them.

Decisions are in `rules` and SQL is in `store`. Objects that several middlewares share are in `fetching`, and
so are the failures they raise (`fetching/failures.py`).
"""
