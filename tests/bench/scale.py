"""Queries at ten thousand and at a million listings: what grows with the table, and what must not."""

from __future__ import annotations
