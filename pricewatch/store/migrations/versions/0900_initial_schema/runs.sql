CREATE UNLOGGED TABLE collected_cards (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_collected_cards PRIMARY KEY,
    run_id bigint NOT NULL,
    start_page text NOT NULL,
    page integer NOT NULL,
    identity_key text NOT NULL,
    card jsonb NOT NULL
);
CREATE INDEX ix_collected_cards_identity_key ON collected_cards (run_id, identity_key);

CREATE TABLE runs (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_runs PRIMARY KEY,
    spider text NOT NULL,
    source_id text CONSTRAINT fk_runs_source_id_sources REFERENCES sources(id),
    market_id text CONSTRAINT fk_runs_market_id_markets REFERENCES markets(id),
    adapter_id text,
    adapter_version text,
    trigger text NOT NULL DEFAULT 'MANUAL',
    arguments jsonb NOT NULL DEFAULT '{}',
    job_id text,
    node text,
    pid integer,
    status text NOT NULL DEFAULT 'running',
    reason text,
    partial boolean NOT NULL DEFAULT false,
    watched boolean NOT NULL DEFAULT false,
    started_at timestamptz NOT NULL,
    heartbeat_at timestamptz NOT NULL,
    finished_at timestamptz,
    pages integer NOT NULL DEFAULT 0,
    cards integer NOT NULL DEFAULT 0,
    new_listings integer NOT NULL DEFAULT 0,
    updated_listings integer NOT NULL DEFAULT 0,
    skipped_listings integer NOT NULL DEFAULT 0,
    price_rows integer NOT NULL DEFAULT 0,
    details integer NOT NULL DEFAULT 0,
    gone integer NOT NULL DEFAULT 0,
    urls_attempted integer NOT NULL DEFAULT 0,
    urls_succeeded integer NOT NULL DEFAULT 0,
    urls_failed integer NOT NULL DEFAULT 0,
    offers_extracted integer NOT NULL DEFAULT 0,
    offers_valid integer NOT NULL DEFAULT 0,
    offers_dropped integer NOT NULL DEFAULT 0,
    offers_quarantined integer NOT NULL DEFAULT 0,
    zero_price_count integer NOT NULL DEFAULT 0,
    oos_no_price_count integer NOT NULL DEFAULT 0,
    failure_rate numeric(5,4),
    drop_rate numeric(5,4),
    yield_rate numeric(5,4),
    reasons jsonb NOT NULL DEFAULT '{}',
    progress jsonb NOT NULL DEFAULT '{}',
    errors jsonb NOT NULL DEFAULT '[]',
    CONSTRAINT ck_runs_spider CHECK (char_length(spider) BETWEEN 1 AND 100),
    CONSTRAINT ck_runs_status
        CHECK (status IN ('running', 'finished', 'failed', 'aborted', 'cancelled', 'stale', 'quarantined')),
    CONSTRAINT ck_runs_trigger CHECK (trigger IN ('SCHEDULED', 'MANUAL', 'RETRY', 'RECHECK'))
);
CREATE INDEX ix_runs_adapter_id ON runs (adapter_id, started_at);
CREATE INDEX ix_runs_heartbeat ON runs (heartbeat_at) WHERE status = 'running';
CREATE INDEX ix_runs_job_id ON runs (job_id);
CREATE INDEX ix_runs_market_id ON runs (market_id, id);
CREATE INDEX ix_runs_spider_status ON runs (spider, status, id);
CREATE INDEX ix_runs_started_at ON runs (started_at);
CREATE UNIQUE INDEX uq_runs_running ON runs (spider, market_id)
    WHERE status = 'running' AND market_id IS NOT NULL;

CREATE TABLE run_pages (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_run_pages PRIMARY KEY,
    run_id bigint NOT NULL CONSTRAINT fk_run_pages_run_id_runs REFERENCES runs(id) ON DELETE CASCADE,
    start_page text,
    page integer,
    url text NOT NULL,
    outcome text NOT NULL,
    http_status smallint,
    cards integer NOT NULL DEFAULT 0,
    new_listings integer NOT NULL DEFAULT 0,
    updated_listings integer NOT NULL DEFAULT 0,
    price_rows integer NOT NULL DEFAULT 0,
    dropped jsonb NOT NULL DEFAULT '{}',
    error text,
    duration_ms integer,
    fetched_at timestamptz NOT NULL,
    CONSTRAINT ck_run_pages_outcome
        CHECK (outcome IN ('ok', 'empty', 'repeated', 'blocked', 'robots',
                           'http_error', 'network_error', 'unreadable'))
);
CREATE INDEX ix_run_pages_run_id ON run_pages (run_id, id);

CREATE TABLE verification_attempts (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_verification_attempts PRIMARY KEY,
    run_id bigint NOT NULL
        CONSTRAINT fk_verification_attempts_run_id_runs REFERENCES runs(id) ON DELETE CASCADE,
    listing_id bigint NOT NULL
        CONSTRAINT fk_verification_attempts_listing_id_listings REFERENCES listings(id),
    checked_at timestamptz NOT NULL DEFAULT now(),
    method text,
    http_status smallint,
    final_url text,
    outcome text NOT NULL,
    reason text,
    marker text,
    strike boolean NOT NULL DEFAULT false,
    CONSTRAINT ck_verification_attempts_outcome
        CHECK (outcome IN ('alive', 'not_found', 'gone', 'sold', 'trouble', 'expired'))
);
CREATE INDEX ix_verification_attempts_listing_id ON verification_attempts (listing_id, checked_at);
CREATE INDEX ix_verification_attempts_run_id ON verification_attempts (run_id);
