"""Daily maintenance: remove what expired, roll counters over, give circuit breakers another chance.

It is called by the dispatcher; nothing here decides when.
"""
