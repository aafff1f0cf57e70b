"""Queries for people and programs who look: lists, dashboards, exports and gauges.

What a run writes is in `store.writing`, and what waits is in `store.queues`.
"""
