"""Tests of the use cases that web, API and commands share."""
