"""For verification: apply all checks of a run together."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.items import CheckedListings
from pricewatch.pipelines.base import RunPipeline
from pricewatch.rules.verification_outcome import is_mass_gone
from pricewatch.store.operations import alert_rows
from pricewatch.store.writing import verification_rows
from pricewatch.store.writing.batch import Batch, WriteUnit
from pricewatch.store.writing.listing_checks import attempt_row, listing_row, mass_gone_alert
from pricewatch.vocabulary import Attempt, RunStatus


class VerificationPipeline(RunPipeline):
    def write(self, connection: Connection, batch: Batch) -> None:
        for _, checked in batch.of(CheckedListings):
            now, checks, rows = clock.now(), checked.checks, self._rows(checked)
            struck = {row["listing_id"] for row in rows if row["struck"]}
            evidence = [
                attempt_row(check, batch.run_id, strike=check.listing_id in struck) for check in checks
            ]
            verification_rows.record_attempts(connection, evidence)
            verification_rows.apply_results(connection, batch.run_id, rows, now)
            if _is_mass_gone(checked):
                alert_rows.raise_alert(connection, now=now, **self._alert(checked))
            else:
                alert_rows.resolve_alert(connection, kind="mass_gone", subject=checked.alert_subject, now=now)

    def committed(self, unit: WriteUnit) -> None:
        if isinstance(unit.item, CheckedListings):
            self.run.count("gone", sum(row["gone"] for row in self._rows(unit.item)))
            if _is_mass_gone(unit.item):
                self.run.conclude(RunStatus.QUARANTINED, self._alert(unit.item)["message"])

    def _rows(self, checked: CheckedListings) -> list[dict[str, Any]]:
        """Return the listing updates; if too many pages are missing, only those of pages that exist."""
        mass_gone = _is_mass_gone(checked)
        return [
            listing_row(checked.candidates[check.listing_id], check, self.run.id)
            for check in checked.checks
            if check.attempt is Attempt.ALIVE or not mass_gone
        ]

    def _alert(self, checked: CheckedListings) -> dict[str, Any]:
        missing = sum(check.is_missing for check in checked.checks)
        return mass_gone_alert(checked.alert_subject, missing, len(checked.checks), self.run.id)


def _is_mass_gone(checked: CheckedListings) -> bool:
    return is_mass_gone([check.attempt for check in checked.checks])
