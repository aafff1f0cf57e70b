"""Use cases that the web pages, the JSON API and the commands share: each decides once, for all three.

A service combines rules and queries of the store. No SQL text, no HTML and no command-line options live here.
"""
