CREATE TABLE quarantine_pages (
    hash text CONSTRAINT pk_quarantine_pages PRIMARY KEY,
    page bytea NOT NULL,
    kept_at timestamptz NOT NULL
);
CREATE INDEX ix_quarantine_pages_kept_at ON quarantine_pages (kept_at);

CREATE TABLE target_queue (
    id smallint CONSTRAINT pk_target_queue PRIMARY KEY,
    paused_until timestamptz,
    rejected_cycles integer NOT NULL DEFAULT 0,
    last_cycle_at timestamptz,
    last_offered integer NOT NULL DEFAULT 0,
    last_accepted integer NOT NULL DEFAULT 0,
    accepted_total bigint NOT NULL DEFAULT '0',
    rejected_total jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT ck_target_queue_one_row CHECK (id = 1)
);

CREATE TABLE targets (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_targets PRIMARY KEY,
    source_id text NOT NULL CONSTRAINT fk_targets_source_id_sources REFERENCES sources(id),
    listing_id bigint CONSTRAINT fk_targets_listing_id_listings REFERENCES listings(id),
    adapter_id text NOT NULL,
    url text NOT NULL,
    canonical_url text NOT NULL,
    selectors jsonb NOT NULL DEFAULT '{}',
    schedule text NOT NULL DEFAULT '0 */4 * * *',
    priority integer NOT NULL DEFAULT 0,
    status text NOT NULL DEFAULT 'ACTIVE',
    enabled boolean NOT NULL DEFAULT true,
    robots_path_blocked boolean NOT NULL DEFAULT false,
    next_due_at timestamptz,
    queue_state text NOT NULL DEFAULT 'idle',
    queued_at timestamptz,
    leased_by text,
    lease_until timestamptz,
    last_scraped_at timestamptz,
    last_status text,
    last_reason text,
    last_run_id bigint,
    consecutive_failures integer NOT NULL DEFAULT 0,
    created_by text,
    notes text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    missing_since timestamptz,
    CONSTRAINT uq_targets_source_id_canonical_url UNIQUE (source_id, canonical_url),
    CONSTRAINT ck_targets_last_status
        CHECK (last_status IS NULL OR last_status IN ('SUCCESS', 'FAILED', 'DROPPED', 'QUARANTINED')),
    CONSTRAINT ck_targets_priority CHECK (priority BETWEEN -100 AND 100),
    CONSTRAINT ck_targets_queue_state CHECK (queue_state IN ('idle', 'pending', 'leased')),
    CONSTRAINT ck_targets_status CHECK (status IN ('ACTIVE', 'PAUSED', 'BROKEN', 'STALE'))
);
CREATE INDEX ix_targets_due ON targets (source_id, priority DESC, next_due_at, id)
    WHERE enabled AND NOT robots_path_blocked AND queue_state = 'idle' AND next_due_at IS NOT NULL
        AND status IN ('ACTIVE', 'BROKEN');
CREATE INDEX ix_targets_leased ON targets (lease_until) WHERE queue_state = 'leased';
CREATE INDEX ix_targets_listing_id ON targets (listing_id);
CREATE INDEX ix_targets_pending ON targets (priority DESC, queued_at, id) WHERE queue_state = 'pending';
CREATE INDEX ix_targets_status ON targets (status, id) WHERE status <> 'ACTIVE';

CREATE TABLE quarantine (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_quarantine PRIMARY KEY,
    source_id text NOT NULL CONSTRAINT fk_quarantine_source_id_sources REFERENCES sources(id),
    run_id bigint,
    target_id bigint CONSTRAINT fk_quarantine_target_id_targets REFERENCES targets(id) ON DELETE SET NULL,
    listing_id bigint CONSTRAINT fk_quarantine_listing_id_listings REFERENCES listings(id),
    adapter_id text NOT NULL,
    adapter_version text NOT NULL,
    url text NOT NULL,
    identity_key text,
    reason text NOT NULL,
    offer jsonb NOT NULL DEFAULT '{}',
    details jsonb NOT NULL DEFAULT '{}',
    page_hash text,
    status text NOT NULL DEFAULT 'pending',
    observed_at timestamptz NOT NULL,
    reviewed_at timestamptz,
    reviewed_by text,
    note text,
    times_seen integer NOT NULL DEFAULT 1,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT ck_quarantine_reason
        CHECK (reason IN ('VALIDATION_FAILED', 'DRIFT_DETECTED', 'SELECTOR_FAILURE', 'NORMALIZATION_FAILED',
                          'ZERO_PRICE_EXTRACTED', 'AMBIGUOUS_PRICE', 'MOVED')),
    CONSTRAINT ck_quarantine_status CHECK (status IN ('pending', 'accepted', 'rejected', 'replayed'))
);
CREATE INDEX ix_quarantine_adapter_id ON quarantine (adapter_id, status);
CREATE INDEX ix_quarantine_listing ON quarantine (source_id, identity_key, status);
CREATE INDEX ix_quarantine_page_hash ON quarantine (page_hash) WHERE page_hash IS NOT NULL;
CREATE INDEX ix_quarantine_status ON quarantine (status, id);
CREATE UNIQUE INDEX uq_quarantine_open ON quarantine (source_id, identity_key, reason)
    WHERE status = 'pending';
CREATE UNIQUE INDEX uq_quarantine_waiting_price ON quarantine (listing_id)
    WHERE status = 'pending' AND listing_id IS NOT NULL;
