"""Which settings a person or program may give to a job.

Many settings of Scrapy name a class, a path or an address, and so run code, write files or reach other hosts.
They need the role `admin`, as a deployment does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pricewatch.vocabulary import AccessRole

# Numbers and words that decide how much a job reads, and how much it logs.
PLAIN_SETTINGS = frozenset(
    {
        "CLOSESPIDER_ERRORCOUNT", "CLOSESPIDER_ITEMCOUNT", "CLOSESPIDER_PAGECOUNT", "CLOSESPIDER_TIMEOUT",
        "CLOSESPIDER_TIMEOUT_NO_ITEM", "DEPTH_LIMIT", "DETAIL_REFRESH_HOURS", "DOWNLOAD_DELAY",
        "DOWNLOAD_TIMEOUT", "HONEST_USER_AGENT", "LOG_LEVEL", "LOGSTATS_INTERVAL", "OVERVIEW_ATTEMPTS",
        "OVERVIEW_MOST_PAGES", "RETRY_TIMES", "STATS_DUMP", "STOP_AFTER_FAMILIAR_PAGES", "SWEEP_MAX_DETAILS",
        "SWEEP_OVERLAP_PAGES", "SWEEP_PAGES_PER_RUN", "SWEEP_TIME_BUDGET_MINUTES", "TARGETS_PER_RUN",
        "TARGETS_TIME_BUDGET_MINUTES", "VERIFICATION_MAX_LISTINGS", "VERIFICATION_UNSEEN_HOURS",
    }
)  # fmt: skip
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9.-]{0,20}")


def refused_setting(role: AccessRole, settings: Mapping[str, str]) -> str | None:
    """Return the name of the first setting that this role may not give to a job."""
    if role.includes(AccessRole.ADMIN):
        return None
    for name, value in settings.items():
        if name not in PLAIN_SETTINGS or not _PLAIN_VALUE.fullmatch(value):
            return name
    return None
