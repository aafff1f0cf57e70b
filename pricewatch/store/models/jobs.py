"""Jobs that wait for a worker."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from pricewatch.store.models.base import Base, json_default, one_of


class Job(Base):
    __tablename__ = "jobs"
    __table_args__ = (
        one_of("status", ("pending", "running", "finished")),
        Index("ix_jobs_pending", "queued_at", postgresql_where=text("status = 'pending'")),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    spider: Mapped[str]
    arguments: Mapped[dict[str, Any]] = json_default("{}")
    priority: Mapped[float] = mapped_column(server_default="0")
    requested_by: Mapped[str]
    status: Mapped[str] = mapped_column(server_default="pending")
    queued_at: Mapped[datetime] = mapped_column(server_default=func.now())
