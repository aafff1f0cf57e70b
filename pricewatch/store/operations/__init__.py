"""Operation of the system: alerts, metric totals, adapter switches and daily maintenance.

What a run writes about listings and targets is in `store.writing`.
"""
