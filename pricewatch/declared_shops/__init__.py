"""Shops declared in a TOML file: the file format, the adapter that follows it, and the files in `shops/`.

No shop has Python code here; one that needs it is an adapter in `adapters/`.
"""
