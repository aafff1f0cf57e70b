"""People: their passwords, tokens and sessions, the audit log, messages to people, and watch rules."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Identity, Index, func, text
from sqlalchemy.dialects.postgresql import CHAR
from sqlalchemy.orm import Mapped, mapped_column

from pricewatch.store.models.listing_tables import STORED_AVAILABILITIES
from pricewatch.store.models.table_base import Base, identity, json_default, one_of
from pricewatch.vocabulary import AccessRole

MESSAGE_KINDS = ("alert", "resolved", "watch")
WATCH_KINDS = (
    *("price_at_or_below", "fell_by", "rose_by", "any_change", "lowest_ever", "lowest_in_30_days"),
    *("back_in_stock", "sold", "gone"),
)


class Person(Base):
    """A person with a password of their own. The administrator of the environment has no row."""

    __tablename__ = "people"
    __table_args__ = (one_of("role", AccessRole),)

    id: Mapped[int] = identity()
    # In lower case.
    name: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    # Contains the parameters of the hash function.
    password_hash: Mapped[str]
    enabled: Mapped[bool] = mapped_column(server_default=text("true"))
    created_at: Mapped[datetime]
    created_by: Mapped[str]
    password_changed_at: Mapped[datetime]
    last_login_at: Mapped[datetime | None]


class AccessToken(Base):
    """A token of a program. Only its hash is stored."""

    __tablename__ = "access_tokens"
    __table_args__ = (
        one_of("role", AccessRole),
        Index("ix_access_tokens_name", "name", unique=True, postgresql_where=text("revoked_at IS NULL")),
    )

    id: Mapped[int] = identity()
    name: Mapped[str]
    token_hash: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    created_at: Mapped[datetime]
    created_by: Mapped[str]
    expires_at: Mapped[datetime | None]
    # At most one minute old.
    last_used_at: Mapped[datetime | None]
    last_used_from: Mapped[str | None]
    revoked_at: Mapped[datetime | None]
    revoked_by: Mapped[str | None]


class WebSession(Base):
    """The session of a person who has logged in. Only the hash of the token is stored."""

    __tablename__ = "web_sessions"
    __table_args__ = (Index("ix_web_sessions_expires_at", "expires_at"),)

    token_hash: Mapped[str] = mapped_column(primary_key=True)
    person: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True))
    # Empty for the administrator of the environment.
    person_id: Mapped[int | None] = mapped_column(
        BigInteger, ForeignKey("people.id", ondelete="CASCADE"), index=True
    )
    # A digest of the password and role at login, keyed with the token: the session ends when they change.
    credential: Mapped[str] = mapped_column(server_default="")
    last_seen_at: Mapped[datetime | None]
    address: Mapped[str | None]
    user_agent: Mapped[str | None]


class LoginFailure(Base):
    """Wrong passwords and tokens: for an address and a name, for an address, or for a name."""

    __tablename__ = "login_failures"
    __table_args__ = (Index("ix_login_failures_last_at", "last_at"),)

    # Named when only addresses were counted.
    key: Mapped[str] = mapped_column("address", primary_key=True)
    failures: Mapped[int]
    last_at: Mapped[datetime]
    since_at: Mapped[datetime | None]


class Audit(Base):
    """One row per change that a person made."""

    __tablename__ = "audit"
    __table_args__ = (
        Index("ix_audit_person_id", "person", "id"),
        Index("ix_audit_action_id", "action", "id"),
    )

    id: Mapped[int] = identity()
    at: Mapped[datetime]
    person: Mapped[str]
    address: Mapped[str | None]
    action: Mapped[str]
    subject: Mapped[str]
    details: Mapped[dict[str, Any]] = json_default("{}")


class Message(Base):
    """The outbox: messages to send. The key is unique, so each message is sent once."""

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
    # The path of the web page that shows the subject.
    link: Mapped[str | None]
    # Names of channels; an empty list means the default channel. Their addresses are environment variables.
    channels: Mapped[list[Any]] = json_default("[]")
    created_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(server_default="0")
    next_try_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    given_up_at: Mapped[datetime | None]
    error: Mapped[str | None]


class WatchRule(Base):
    __tablename__ = "watch_rules"
    __table_args__ = (
        one_of("kind", WATCH_KINDS),
        CheckConstraint("threshold_cents IS NULL OR currency IS NOT NULL", name="threshold_has_currency"),
        CheckConstraint("currency ~ '^[A-Z]{3}$'", name="currency"),
        Index("ix_watch_rules_listing_id", "listing_id", postgresql_where=text("enabled")),
        Index("ix_watch_rules_product_id", "product_id", postgresql_where=text("enabled")),
    )

    id: Mapped[int] = identity()
    listing_id: Mapped[int | None] = mapped_column(ForeignKey("listings.id"))
    product_id: Mapped[int | None] = mapped_column(ForeignKey("products.id"))
    # A target that was not read yet; replaced by listing_id once the target has a listing.
    target_id: Mapped[int | None] = mapped_column(ForeignKey("targets.id", ondelete="CASCADE"))
    kind: Mapped[str]
    threshold_cents: Mapped[int | None]
    # The currency of the threshold; listings in other currencies never match the rule.
    currency: Mapped[str | None] = mapped_column(CHAR(3))
    threshold_percent: Mapped[Decimal | None]
    notify: Mapped[list[Any]] = json_default("[]")
    enabled: Mapped[bool] = mapped_column(server_default=text("true"))
    last_fired_at: Mapped[datetime | None]
    last_fired_price_cents: Mapped[int | None]
    last_fired_currency: Mapped[str | None] = mapped_column(CHAR(3))
    last_history_run_id: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class WatchState(Base):
    """Up to where a watch rule has read the history of a listing, and what it compares the next row with."""

    __tablename__ = "watch_states"
    __table_args__ = (one_of("availability", STORED_AVAILABILITIES),)

    rule_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("watch_rules.id", ondelete="CASCADE"), primary_key=True
    )
    listing_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("listings.id"), primary_key=True)
    observed_at: Mapped[datetime]
    price_cents: Mapped[int | None]
    currency: Mapped[str | None] = mapped_column(CHAR(3))
    availability: Mapped[str]
    # The highest (for `rose_by`: the lowest) price since the rule last sent a message.
    reference_cents: Mapped[int | None]
    gone: Mapped[bool] = mapped_column(server_default=text("false"))
