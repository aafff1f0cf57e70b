"""Decisions as pure functions of their inputs and `now`.

Each docstring states the rule; numbers are defaults that callers may override. No I/O and no clock here.
"""
