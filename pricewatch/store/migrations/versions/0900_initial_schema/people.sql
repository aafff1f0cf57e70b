CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_audit PRIMARY KEY,
    at timestamptz NOT NULL,
    person text NOT NULL,
    address text,
    action text NOT NULL,
    subject text NOT NULL,
    details jsonb NOT NULL DEFAULT '{}'
);

CREATE TABLE figures (
    key text CONSTRAINT pk_figures PRIMARY KEY,
    value double precision NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE login_failures (
    address text CONSTRAINT pk_login_failures PRIMARY KEY,
    failures integer NOT NULL,
    last_at timestamptz NOT NULL
);

CREATE TABLE messages (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_messages PRIMARY KEY,
    key text NOT NULL CONSTRAINT uq_messages_key UNIQUE,
    kind text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    link text,
    channels jsonb NOT NULL DEFAULT '[]',
    created_at timestamptz NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    next_try_at timestamptz NOT NULL,
    sent_at timestamptz,
    given_up_at timestamptz,
    error text,
    CONSTRAINT ck_messages_kind CHECK (kind IN ('alert', 'resolved', 'watch'))
);
CREATE INDEX ix_messages_waiting ON messages (next_try_at) WHERE sent_at IS NULL AND given_up_at IS NULL;

CREATE TABLE web_sessions (
    token_hash text CONSTRAINT pk_web_sessions PRIMARY KEY,
    person text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX ix_web_sessions_expires_at ON web_sessions (expires_at);

CREATE TABLE run_figures (
    run_id bigint NOT NULL CONSTRAINT fk_run_figures_run_id_runs REFERENCES runs(id) ON DELETE CASCADE,
    key text NOT NULL,
    value double precision NOT NULL,
    CONSTRAINT pk_run_figures PRIMARY KEY (run_id, key)
);

CREATE TABLE watch_states (
    rule_id bigint NOT NULL
        CONSTRAINT fk_watch_states_rule_id_watch_rules REFERENCES watch_rules(id) ON DELETE CASCADE,
    listing_id bigint NOT NULL CONSTRAINT fk_watch_states_listing_id_listings REFERENCES listings(id),
    observed_at timestamptz NOT NULL,
    price_cents integer,
    currency char(3),
    availability text NOT NULL,
    reference_cents integer,
    gone boolean NOT NULL DEFAULT false,
    CONSTRAINT pk_watch_states PRIMARY KEY (rule_id, listing_id),
    CONSTRAINT ck_watch_states_availability
        CHECK (availability IN ('IN_STOCK', 'OUT_OF_STOCK', 'BACKORDER', 'SOLD', 'LISTED'))
);
