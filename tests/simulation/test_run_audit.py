"""The audit of runs: quarantine, sweeps, adapters and targets."""

from __future__ import annotations

from datetime import timedelta

from pricewatch.simulation.audit_results import AuditRule
from pricewatch.simulation.run_audit import audit_adapters, audit_quarantine, audit_sweeps, audit_targets
from tests.simulation.audit_builders import day, truth_listing


def test_offer_quarantined_twice_is_reported() -> None:
    pending = [("bazaar", "PID:1", "AMBIGUOUS_PRICE"), ("bazaar", "PID:1", "VALIDATION_FAILED")]
    assert audit_quarantine(pending).broken == {}
    assert audit_quarantine([*pending, pending[0]]).broken == {
        AuditRule.HELD_TWICE: ["2 times: bazaar PID:1 AMBIGUOUS_PRICE"]
    }


def test_stuck_sweep_is_reported() -> None:
    completed = [day(n / 4) for n in range(1, 12)]
    longest = timedelta(hours=36)
    assert audit_sweeps(completed, day(0), day(4), longest, []).broken == {}
    assert len(audit_sweeps(completed, day(0), day(5), longest, []).broken[AuditRule.STUCK_SWEEP]) == 1
    assert audit_sweeps(completed, day(0), day(5), longest, [(day(3), day(4))]).broken == {}
    assert len(audit_sweeps([], day(0), day(2), longest, []).broken[AuditRule.STUCK_SWEEP]) == 1


def test_disabled_adapter_is_reported() -> None:
    assert audit_adapters([], 540).broken == {}
    off = audit_adapters([(day(3), "bazaar", "72% of 20 URLs failed")], 540)
    assert off.broken == {AuditRule.DISABLED: ["bazaar at 2026-03-04 00:00: 72% of 20 URLs failed"]}


def test_broken_target_whose_page_moved_is_reported() -> None:
    moved = truth_listing(url="/item/new", urls=["/item/one", "/item/new"])
    assert audit_targets([moved], []).broken == {}
    assert list(audit_targets([moved], ["/item/one"]).broken) == [AuditRule.LOST_TARGET]
    assert audit_targets([truth_listing()], ["/item/one"]).broken == {}
