"""Who and what may connect, log in, or get a secret: addresses, client addresses, passwords, environments.

Pure functions, like all rules.
"""
