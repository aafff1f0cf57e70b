"""Compatibility name of `job_leases.close_runs`."""

from __future__ import annotations

from pricewatch.store.queues import job_leases

close_left = job_leases.close_runs
