"""Check what runs left behind: the quarantine, completed sweeps, disabled adapters and broken targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from pricewatch.bazaar.client import TruthListing
from pricewatch.simulation.audit_results import AuditRule, AuditVerdict
from pricewatch.simulation.listing_audit import ONLINE_STATES
from pricewatch.simulation.time_spans import Span, overlap


def audit_quarantine(pending: Iterable[tuple[str, str, str]]) -> AuditVerdict:
    """Check that each (source, identity or URL, reason) is pending only once."""
    verdict = AuditVerdict()
    for row, count in Counter(pending).items():
        verdict.check(AuditRule.HELD_TWICE, count == 1, f"{count} times: {' '.join(row)}")
    return verdict


def audit_sweeps(
    completed: Sequence[datetime],
    begins: datetime,
    ends: datetime,
    longest: timedelta,
    excused: Sequence[Span],
) -> AuditVerdict:
    """Check that sweeps are completed often enough, without the times in which none can be complete."""
    verdict = AuditVerdict()
    for before, after in pairwise([begins, *completed, ends]):
        taken = after - before - overlap((before, after), excused)
        description = f"none completed from {before:%Y-%m-%d %H:%M} to {after:%Y-%m-%d %H:%M}"
        verdict.check(AuditRule.STUCK_SWEEP, taken <= longest, description)
    return verdict


def audit_adapters(disabled: Iterable[tuple[datetime, str, str]], runs: int) -> AuditVerdict:
    """Check that no (time, adapter, note) was disabled: the simulated shop always works."""
    verdict = AuditVerdict(Counter({AuditRule.DISABLED: runs}))
    for at, adapter_id, note in disabled:
        verdict.broken[AuditRule.DISABLED].append(f"{adapter_id} at {at:%Y-%m-%d %H:%M}: {note}")
    return verdict


def audit_targets(truth: Iterable[TruthListing], broken_paths: Iterable[str]) -> AuditVerdict:
    """Check that no target is broken whose page is online at another URL."""
    verdict = AuditVerdict()
    broken = set(broken_paths)
    for true in truth:
        if len(true.urls) > 1 and true.state in ONLINE_STATES:
            lost = broken.intersection(true.urls)
            verdict.check(AuditRule.LOST_TARGET, not lost, f"{', '.join(sorted(lost))} is {true.url} now")
    return verdict
