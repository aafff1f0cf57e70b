"""Decisions as pure functions of their inputs and `now`: no I/O, nothing of ours but `items`.

Each reads as the rule that it implements; the numbers are defaults that callers may override.
"""
