"""The four spiders, their base classes and their arguments.

Pages are read by `adapters`, decisions are in `rules`, and SQL is in `store`.
"""
