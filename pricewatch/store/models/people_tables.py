"""What people and programs outside leave behind: sessions, what they changed, messages to them, figures."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Text, func, text
from sqlalchemy.dialects.postgresql import CHAR
from sqlalchemy.orm import Mapped, mapped_column

from pricewatch.store.models.table_base import Base, identity, json_default, one_of
from pricewatch.vocabulary import Availability

MESSAGE_KINDS = ("alert", "resolved", "watch")


class WebSession(Base):
    """A person who has logged in; only the hash of what their browser holds is kept."""

    __tablename__ = "web_sessions"
    __table_args__ = (Index("ix_web_sessions_expires_at", "expires_at"),)

    token_hash: Mapped[str] = mapped_column(primary_key=True)
    person: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class LoginFailure(Base):
    """Wrong passwords in a row from one address."""

    __tablename__ = "login_failures"

    address: Mapped[str] = mapped_column(primary_key=True)
    failures: Mapped[int]
    last_at: Mapped[datetime]


class Audit(Base):
    """One row for each change that a person made."""

    __tablename__ = "audit"

    id: Mapped[int] = identity()
    at: Mapped[datetime]
    person: Mapped[str]
    address: Mapped[str | None]
    action: Mapped[str]
    subject: Mapped[str]
    details: Mapped[dict[str, Any]] = json_default("{}")


class Message(Base):
    """The outbox: what is to be told, once; the key is what it is about."""

    __tablename__ = "messages"
    __table_args__ = (
        one_of("kind", MESSAGE_KINDS),
        Index(
            "ix_messages_waiting",
            "next_try_at",
            postgresql_where=text("sent_at IS NULL AND given_up_at IS NULL"),
        ),
    )

    id: Mapped[int] = identity()
    key: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]
    title: Mapped[str]
    body: Mapped[str]
    # A path of the web interface, where it can be looked at.
    link: Mapped[str | None]
    # Names of channels; none means the default one. Their addresses are secrets of the environment.
    channels: Mapped[list[Any]] = json_default("[]")
    created_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(server_default="0")
    next_try_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    given_up_at: Mapped[datetime | None]
    error: Mapped[str | None]


class WatchState(Base):
    """How far a watch rule has read the history of a listing, and what it compares the next row with."""

    __tablename__ = "watch_states"
    __table_args__ = (
        one_of("availability", [word for word in Availability if word is not Availability.UNKNOWN]),
    )

    rule_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("watch_rules.id", ondelete="CASCADE"), primary_key=True
    )
    listing_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("listings.id"), primary_key=True)
    observed_at: Mapped[datetime]
    price_cents: Mapped[int | None]
    currency: Mapped[str | None] = mapped_column(CHAR(3))
    availability: Mapped[str]
    # The highest (or, for rises, lowest) price since the rule last told of a change.
    reference_cents: Mapped[int | None]
    gone: Mapped[bool] = mapped_column(server_default=text("false"))


class RunFigure(Base):
    """Figures of a run as they stand; a total of its own, so that writing it again changes nothing."""

    __tablename__ = "run_figures"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[float]


class Figure(Base):
    """Figures of all runs that have ended, added up: what a metric began with before the runs of now."""

    __tablename__ = "figures"

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[float]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
