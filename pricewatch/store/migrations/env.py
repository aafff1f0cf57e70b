"""Alembic entry point: migrates on the connection that `store.engine.schema` provides."""

from alembic import context

from pricewatch.store.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
