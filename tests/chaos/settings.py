"""The project's settings with short intervals, so that minutes stand for days."""

from pricewatch.settings import *  # noqa: F403 - the same settings, but for what follows

# A sweep cycle takes several runs, so that checkpoints, overlap and wrap-around are all used.
SWEEP_PAGES_PER_RUN = 4
SWEEP_OVERLAP_PAGES = 1
DETAIL_REFRESH_HOURS = 0.01  # type: ignore[assignment]
DETAIL_RETRY_MINUTES = 0.1  # type: ignore[assignment]
VERIFICATION_UNSEEN_HOURS = 0.001  # type: ignore[assignment]
TARGETS_LEASE_SECONDS = 5
TARGETS_LEASE_CHUNK = 4
DISPATCH_SPREAD_SECONDS = 1.0
DOWNLOAD_TIMEOUT = 2
RETRY_FIRST_DELAY = 0.1
RETRY_LONGEST_DELAY = 1.0
RATE_LIMIT_LEASE_SECONDS = 5
ROBOTS_RETRY_SECONDS = 2
RUN_HEARTBEAT_SECONDS = 1
