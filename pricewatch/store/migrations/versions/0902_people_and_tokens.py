"""People, access tokens, sessions that end with their credential, and counters of wrong passwords."""

from alembic import op

revision = "0902"
down_revision = "0901"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE people (
            id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_people PRIMARY KEY,
            name text NOT NULL CONSTRAINT uq_people_name UNIQUE,
            role text NOT NULL,
            password_hash text NOT NULL,
            enabled boolean NOT NULL DEFAULT true,
            created_at timestamptz NOT NULL,
            created_by text NOT NULL,
            password_changed_at timestamptz NOT NULL,
            last_login_at timestamptz,
            CONSTRAINT ck_people_role CHECK (role IN ('read', 'operate', 'admin'))
        )
    """)
    op.execute("""
        CREATE TABLE access_tokens (
            id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_access_tokens PRIMARY KEY,
            name text NOT NULL,
            token_hash text NOT NULL CONSTRAINT uq_access_tokens_token_hash UNIQUE,
            role text NOT NULL,
            created_at timestamptz NOT NULL,
            created_by text NOT NULL,
            expires_at timestamptz,
            last_used_at timestamptz,
            last_used_from text,
            revoked_at timestamptz,
            revoked_by text,
            CONSTRAINT ck_access_tokens_role CHECK (role IN ('read', 'operate', 'admin'))
        )
    """)
    op.execute("CREATE UNIQUE INDEX ix_access_tokens_name ON access_tokens (name) WHERE revoked_at IS NULL")
    op.execute("""
        ALTER TABLE web_sessions
            ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY,
            ADD COLUMN person_id bigint,
            ADD COLUMN credential text NOT NULL DEFAULT '',
            ADD COLUMN last_seen_at timestamptz,
            ADD COLUMN address text,
            ADD COLUMN user_agent text,
            ADD CONSTRAINT fk_web_sessions_person_id_people
                FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
    """)
    op.execute("CREATE INDEX ix_web_sessions_person_id ON web_sessions (person_id)")
    op.execute("ALTER TABLE login_failures ADD COLUMN since_at timestamptz")
    op.execute("CREATE INDEX ix_login_failures_last_at ON login_failures (last_at)")
    op.execute("CREATE INDEX ix_audit_person_id ON audit (person, id)")
    op.execute("CREATE INDEX ix_audit_action_id ON audit (action, id)")
