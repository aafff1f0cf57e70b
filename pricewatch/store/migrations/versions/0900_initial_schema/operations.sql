CREATE TABLE adapter_status (
    adapter_id text NOT NULL,
    enabled boolean NOT NULL DEFAULT true,
    disabled_at timestamptz,
    disabled_reason text,
    disabled_by text,
    note text,
    watch_next_run boolean NOT NULL DEFAULT false,
    baseline_failure_rate numeric(5,4),
    baseline_yield_rate numeric(5,4),
    baseline_sample_size integer NOT NULL DEFAULT 0,
    baseline_updated_at timestamptz,
    consecutive_failed_batches integer NOT NULL DEFAULT 0,
    consecutive_empty_batches integer NOT NULL DEFAULT 0,
    consecutive_zero_price_batches integer NOT NULL DEFAULT 0,
    last_batch_failure_rate numeric(5,4),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    source_id text NOT NULL DEFAULT '*',
    CONSTRAINT pk_adapter_status PRIMARY KEY (adapter_id, source_id),
    CONSTRAINT ck_adapter_status_disabled_reason
        CHECK (disabled_reason IS NULL OR disabled_reason IN ('MANUAL', 'DRIFT_DETECTED', 'TOS_VIOLATION'))
);

CREATE TABLE alerts (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_alerts PRIMARY KEY,
    key text NOT NULL,
    kind text NOT NULL,
    severity text NOT NULL,
    subject text NOT NULL,
    message text NOT NULL,
    details jsonb NOT NULL DEFAULT '{}',
    count integer NOT NULL DEFAULT 1,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    notified_at timestamptz,
    resolved_at timestamptz,
    CONSTRAINT ck_alerts_severity CHECK (severity IN ('P1', 'P2', 'P3'))
);
CREATE INDEX ix_alerts_last_at ON alerts (last_at);
CREATE UNIQUE INDEX uq_alerts_open ON alerts (key) WHERE resolved_at IS NULL;

CREATE TABLE proxy_blocks (
    domain text NOT NULL,
    proxy text NOT NULL,
    failed_at timestamptz NOT NULL,
    blocked_until timestamptz NOT NULL,
    failure_count integer NOT NULL DEFAULT 1,
    last_error text,
    CONSTRAINT pk_proxy_blocks PRIMARY KEY (domain, proxy)
);
CREATE INDEX ix_proxy_blocks_blocked_until ON proxy_blocks (blocked_until);

-- Logged: times reserved before a crash of the server still hold in the processes that wait for them.
CREATE TABLE rate_limits (
    domain text CONSTRAINT pk_rate_limits PRIMARY KEY,
    last_at timestamptz NOT NULL DEFAULT 'epoch',
    next_at timestamptz NOT NULL DEFAULT 'epoch',
    holders jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor=50);

CREATE TABLE robots_cache (
    origin text CONSTRAINT pk_robots_cache PRIMARY KEY,
    outcome text NOT NULL,
    http_status smallint,
    body text,
    reason text,
    fetched_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    claimed_until timestamptz,
    CONSTRAINT ck_robots_cache_outcome CHECK (outcome IN ('rules', 'no_rules', 'unavailable'))
);

CREATE TABLE adapter_batches (
    run_id bigint NOT NULL CONSTRAINT fk_adapter_batches_run_id_runs REFERENCES runs(id) ON DELETE CASCADE,
    adapter_id text NOT NULL,
    ended_at timestamptz NOT NULL,
    urls integer NOT NULL,
    failed integer NOT NULL,
    extracted integer NOT NULL,
    valid integer NOT NULL,
    dropped integer NOT NULL,
    quarantined integer NOT NULL,
    zero_prices integer NOT NULL,
    oos_no_price integer NOT NULL,
    availability_unknown integer NOT NULL,
    failure_rate numeric(5,4),
    drop_rate numeric(5,4),
    yield_rate numeric(5,4),
    judged boolean NOT NULL,
    bad boolean NOT NULL,
    watched boolean NOT NULL DEFAULT false,
    source_id text NOT NULL DEFAULT '*',
    CONSTRAINT pk_adapter_batches PRIMARY KEY (run_id, adapter_id, source_id)
);
CREATE INDEX ix_adapter_batches_adapter_id ON adapter_batches (adapter_id, source_id, ended_at);

CREATE TABLE watch_rules (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_watch_rules PRIMARY KEY,
    listing_id bigint CONSTRAINT fk_watch_rules_listing_id_listings REFERENCES listings(id),
    product_id bigint CONSTRAINT fk_watch_rules_product_id_products REFERENCES products(id),
    kind text NOT NULL,
    threshold_cents integer,
    threshold_percent numeric,
    notify jsonb NOT NULL DEFAULT '[]',
    enabled boolean NOT NULL DEFAULT true,
    last_fired_at timestamptz,
    last_fired_price_cents integer,
    last_history_run_id bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    target_id bigint CONSTRAINT fk_watch_rules_target_id_targets REFERENCES targets(id) ON DELETE CASCADE,
    currency char(3),
    last_fired_currency char(3),
    CONSTRAINT ck_watch_rules_currency CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT ck_watch_rules_kind
        CHECK (kind IN ('price_at_or_below', 'fell_by', 'rose_by', 'back_in_stock', 'sold', 'gone')),
    CONSTRAINT ck_watch_rules_threshold_has_currency CHECK (threshold_cents IS NULL OR currency IS NOT NULL)
);
CREATE INDEX ix_watch_rules_listing_id ON watch_rules (listing_id) WHERE enabled;
CREATE INDEX ix_watch_rules_product_id ON watch_rules (product_id) WHERE enabled;
