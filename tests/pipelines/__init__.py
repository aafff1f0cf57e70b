"""Tests of the pipelines themselves, without a crawl."""
