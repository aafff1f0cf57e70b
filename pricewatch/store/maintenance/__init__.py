"""Daily maintenance: delete expired rows, add up metrics, and reset circuit breakers.

The dispatcher decides when it runs.
"""
