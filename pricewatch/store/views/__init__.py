"""Queries behind the web pages, the API, exports and metrics.

Runs write through `store.writing`; the job and target queues are in `store.queues`.
"""
