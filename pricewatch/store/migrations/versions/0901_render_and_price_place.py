"""Whether pages are rendered in the browser, and where the price of a shop stands."""

from alembic import op

revision = "0901"
down_revision = "0900"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        ALTER TABLE sources
            ADD COLUMN render text NOT NULL DEFAULT 'auto',
            ADD COLUMN needs_browser boolean NOT NULL DEFAULT false,
            ADD COLUMN price_place text,
            ADD COLUMN price_place_seen integer NOT NULL DEFAULT 0,
            ADD COLUMN price_place_at timestamptz,
            ADD COLUMN price_place_by text,
            ADD COLUMN price_place_other text,
            ADD COLUMN price_place_other_seen integer NOT NULL DEFAULT 0,
            ADD CONSTRAINT ck_sources_render CHECK (render IN ('auto', 'never', 'always'))
    """)
    op.execute("""
        ALTER TABLE targets
            ADD COLUMN render text,
            ADD CONSTRAINT ck_targets_render CHECK (render IS NULL OR render IN ('auto', 'never', 'always'))
    """)
