"""What people see and steer: messages, audit, figures of short-lived processes"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ACCESS = """
CREATE TABLE web_sessions (
    token_hash text CONSTRAINT pk_web_sessions PRIMARY KEY,
    person text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX ix_web_sessions_expires_at ON web_sessions (expires_at);

CREATE TABLE login_failures (
    address text CONSTRAINT pk_login_failures PRIMARY KEY,
    failures integer NOT NULL,
    last_at timestamptz NOT NULL
);

CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_audit PRIMARY KEY,
    at timestamptz NOT NULL,
    person text NOT NULL,
    address text,
    action text NOT NULL,
    subject text NOT NULL,
    details jsonb NOT NULL DEFAULT '{}'
);
"""

TELLING = """
ALTER TABLE watch_rules ADD COLUMN target_id bigint
    CONSTRAINT fk_watch_rules_target_id_targets REFERENCES targets ON DELETE CASCADE;

CREATE TABLE messages (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_messages PRIMARY KEY,
    key text NOT NULL CONSTRAINT uq_messages_key UNIQUE,
    kind text NOT NULL CONSTRAINT ck_messages_kind CHECK (kind IN ('alert', 'resolved', 'watch')),
    title text NOT NULL,
    body text NOT NULL,
    link text,
    channels jsonb NOT NULL DEFAULT '[]',
    created_at timestamptz NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    next_try_at timestamptz NOT NULL,
    sent_at timestamptz,
    given_up_at timestamptz,
    error text
);
CREATE INDEX ix_messages_waiting ON messages (next_try_at) WHERE sent_at IS NULL AND given_up_at IS NULL;

CREATE TABLE watch_states (
    rule_id bigint NOT NULL CONSTRAINT fk_watch_states_rule_id_watch_rules REFERENCES watch_rules ON DELETE CASCADE,
    listing_id bigint NOT NULL CONSTRAINT fk_watch_states_listing_id_listings REFERENCES listings,
    observed_at timestamptz NOT NULL,
    price_cents integer,
    currency char(3),
    availability text NOT NULL CONSTRAINT ck_watch_states_availability
        CHECK (availability IN ('IN_STOCK', 'OUT_OF_STOCK', 'BACKORDER', 'SOLD')),
    reference_cents integer,
    gone boolean NOT NULL DEFAULT false,
    CONSTRAINT pk_watch_states PRIMARY KEY (rule_id, listing_id)
);
"""

FIGURES = """
CREATE TABLE run_figures (
    run_id bigint NOT NULL CONSTRAINT fk_run_figures_run_id_runs REFERENCES runs ON DELETE CASCADE,
    key text NOT NULL,
    value double precision NOT NULL,
    CONSTRAINT pk_run_figures PRIMARY KEY (run_id, key)
);
CREATE TABLE figures (
    key text CONSTRAINT pk_figures PRIMARY KEY,
    value double precision NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);
"""

# The newest changes of all prices, and what is off sale, without reading what is at rest.
INDEXES = """
CREATE INDEX ix_price_history_observed_at ON price_history (observed_at);
CREATE INDEX ix_listings_inactive ON listings (id) WHERE NOT active;
"""

# What consumers may know of a listing; `visible_listings` says which ones.
VISIBLE = """
CREATE VIEW visible_price_history AS
SELECT h.listing_id, h.observed_at, h.price_cents, h.price_max_cents, h.currency, h.availability
FROM price_history h JOIN visible_listings l ON l.id = h.listing_id;
"""


def upgrade() -> None:
    for statement in (ACCESS, TELLING, FIGURES, INDEXES, VISIBLE):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP VIEW visible_price_history")
    op.execute("DROP INDEX ix_listings_inactive, ix_price_history_observed_at")
    op.execute("ALTER TABLE watch_rules DROP COLUMN target_id")
    op.execute("DROP TABLE figures, run_figures, watch_states, messages, audit, login_failures, web_sessions")
