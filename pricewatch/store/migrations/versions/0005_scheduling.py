"""Jobs, nodes and eggs: what the daemons of a cluster share"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
CREATE TABLE jobs (
    id text CONSTRAINT pk_jobs PRIMARY KEY,
    spider text NOT NULL,
    arguments jsonb NOT NULL DEFAULT '{}',
    priority double precision NOT NULL DEFAULT 0,
    requested_by text NOT NULL,
    status text NOT NULL DEFAULT 'pending' CONSTRAINT ck_jobs_status CHECK (status IN ('pending', 'running', 'finished')),
    queued_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ix_jobs_pending ON jobs (queued_at) WHERE status = 'pending';
""")


def downgrade() -> None:
    op.execute("DROP TABLE jobs")
