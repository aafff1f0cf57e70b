"""Pipelines are tested by crawls of the sample marketplace."""

from __future__ import annotations

from tests.spiders.conftest import crawler, world

__all__ = ["crawler", "world"]
