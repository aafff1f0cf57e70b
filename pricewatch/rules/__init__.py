"""Decisions as pure functions of their inputs and `now`. No I/O; the only project imports are item types.

Each function states the rule that it implements; the numbers are defaults that callers may override.
"""
