"""Scheduling: jobs, the nodes that run them, deployed versions, and the dispatcher."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Float,
    Index,
    LargeBinary,
    SmallInteger,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from pricewatch.store.models.table_base import Base, identity, json_default, one_of

ENDED_STATES = ("finished", "failed", "cancelled")
JOB_STATES = ("pending", "running", *ENDED_STATES)


class Job(Base):
    """A scrapyd job: its entry in the queue while it is pending, and its record afterwards."""

    __tablename__ = "jobs"
    __table_args__ = (
        UniqueConstraint("project", "job_id"),
        one_of("state", JOB_STATES),
        CheckConstraint("state <> 'running' OR lease_until IS NOT NULL", name="running_is_leased"),
        # The same work never runs twice at the same time, on any node.
        Index("uq_jobs_working", "project", "work", unique=True, postgresql_where=text("state = 'running'")),
        Index("ix_jobs_pending", text("priority DESC"), "id", postgresql_where=text("state = 'pending'")),
        Index("ix_jobs_waiting", "project", "work", postgresql_where=text("state = 'pending'")),
        Index(
            "ix_jobs_ended",
            text("ended_at DESC"),
            text("id DESC"),
            postgresql_where=text("ended_at IS NOT NULL"),
        ),
    )

    id: Mapped[int] = identity()
    project: Mapped[str]
    spider: Mapped[str]
    job_id: Mapped[str]
    # NULL before the job starts: the newest version.
    version: Mapped[str | None]
    arguments: Mapped[dict[str, Any]] = json_default("{}")
    settings: Mapped[dict[str, Any]] = json_default("{}")
    # What the job works on; only one running job may have the same value.
    work: Mapped[str]
    priority: Mapped[float] = mapped_column(Float(53), server_default="0")
    state: Mapped[str] = mapped_column(server_default="pending")
    added_at: Mapped[datetime] = mapped_column(server_default=func.now())
    not_before: Mapped[datetime] = mapped_column(server_default=func.now())

    # The process that runs it. Another node may take the job when the lease has expired.
    node: Mapped[str | None]
    instance: Mapped[str | None]
    pid: Mapped[int | None]
    lease_until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(server_default="0")
    started_at: Mapped[datetime | None]

    # How often cancelling was requested, and the signal of the last request.
    cancels: Mapped[int] = mapped_column(server_default="0")
    cancel_signal: Mapped[str | None]

    ended_at: Mapped[datetime | None]
    exit_code: Mapped[int | None]
    exit_signal: Mapped[int | None]
    reason: Mapped[str | None]


class Node(Base):
    """A daemon that runs jobs."""

    __tablename__ = "nodes"

    name: Mapped[str] = mapped_column(primary_key=True)
    # Changes with every start.
    instance: Mapped[str]
    # The address of its logs, if other machines can reach it.
    url: Mapped[str | None]
    pid: Mapped[int]
    slots: Mapped[int]
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    heartbeat_at: Mapped[datetime] = mapped_column(server_default=func.now())
    stopped_at: Mapped[datetime | None]


class Egg(Base):
    """A deployed version of a project. The one that was deployed last is the newest."""

    __tablename__ = "eggs"
    __table_args__ = (Index("ix_eggs_added_at", "project", "added_at"),)

    project: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str] = mapped_column(primary_key=True)
    egg: Mapped[bytes] = mapped_column(LargeBinary)
    digest: Mapped[str]
    # HMAC-SHA256 by the daemon that received it; NULL if that daemon had no key.
    signature: Mapped[str | None]
    added_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class DispatcherRow(Base):
    """A single row, locked by the node that dispatches. It records what was done, so that it is done once."""

    __tablename__ = "dispatcher"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    node: Mapped[str | None]
    last_tick_at: Mapped[datetime | None]
    last_tick_ms: Mapped[int | None]
    last_started: Mapped[int] = mapped_column(server_default="0")
    maintained_at: Mapped[datetime | None]
    # Run pages and attempts from before this time have been deleted.
    details_kept_from: Mapped[datetime | None]
