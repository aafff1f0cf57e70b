"""What a run writes: observations, history, quarantine, checkpoints and outcomes, in batched transactions.

Queries for people are in `store.views`; decisions are in `rules`.
"""
