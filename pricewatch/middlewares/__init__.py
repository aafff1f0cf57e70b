"""Downloader middlewares, one per file; a setting disables each of them.

Decisions are in `rules`, SQL is in `store`, and objects that several middlewares share are in `fetching`, as are
the failures they raise (`fetching/failures.py`).
"""
