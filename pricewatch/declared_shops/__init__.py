"""Shops declared in a TOML file: the file format, the adapter that reads it, and the files in `shops/`.

No database and no network here. Shops that need Python code are adapters in `adapters`.
"""
