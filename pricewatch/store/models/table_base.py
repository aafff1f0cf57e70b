"""The base class of all tables, and helpers for columns and constraints."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, DateTime, Identity, MetaData, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, mapped_column


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it as a plain attribute
        datetime: DateTime(timezone=True),
        str: Text(),
        dict[str, Any]: JSONB(),
        list[Any]: JSONB(),
    }


def one_of(column: str, values: Iterable[str], *, optional: bool = False) -> CheckConstraint:
    """Return a check constraint that restricts the column to these values."""
    listed = ", ".join(f"'{value}'" for value in values)
    rule = f"{column} IN ({listed})"
    return CheckConstraint(f"{column} IS NULL OR {rule}" if optional else rule, name=column)


def identity() -> Any:
    return mapped_column(BigInteger, Identity(always=True), primary_key=True)


def json_default(text: str) -> Any:
    return mapped_column(JSONB, nullable=False, server_default=text)
