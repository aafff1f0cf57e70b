"""Hostile input: texts, pages, files and requests that an attacker would send."""
