CREATE TABLE products (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_products PRIMARY KEY,
    key text NOT NULL CONSTRAINT uq_products_key UNIQUE,
    title text NOT NULL,
    brand text,
    mpn text,
    gtin text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ix_products_gtin ON products (gtin) WHERE gtin IS NOT NULL;
CREATE INDEX ix_products_title ON products USING gin (words_of(title));

CREATE TABLE sellers (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_sellers PRIMARY KEY,
    source_id text NOT NULL CONSTRAINT fk_sellers_source_id_sources REFERENCES sources(id),
    platform_id text NOT NULL,
    name text,
    type text,
    first_seen_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    CONSTRAINT uq_sellers_source_id_platform_id UNIQUE (source_id, platform_id),
    CONSTRAINT ck_sellers_type CHECK (type IS NULL OR type IN ('user', 'shop'))
);

CREATE TABLE listings (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_listings PRIMARY KEY,
    source_id text NOT NULL CONSTRAINT fk_listings_source_id_sources REFERENCES sources(id),
    market_id text CONSTRAINT fk_listings_market_id_markets REFERENCES markets(id),
    identity_key text NOT NULL,
    url text NOT NULL,
    canonical_url text NOT NULL,
    title text NOT NULL,
    price_cents integer,
    price_max_cents integer,
    currency char(3),
    availability text NOT NULL,
    price_observed_at timestamptz,
    shipping_cents integer,
    tax_included boolean,
    platform_id text,
    sku text,
    gtin text,
    mpn text,
    brand text,
    seller_id bigint CONSTRAINT fk_listings_seller_id_sellers REFERENCES sellers(id),
    location text,
    area numeric,
    attributes jsonb NOT NULL DEFAULT '{}',
    image_url text,
    adapter_version text,
    product_id bigint CONSTRAINT fk_listings_product_id_products REFERENCES products(id),
    product_link jsonb,
    resolve_requested_at timestamptz,
    active boolean NOT NULL DEFAULT true,
    verification_status text,
    verification_requested_at timestamptz,
    strikes smallint NOT NULL DEFAULT '0',
    last_strike_run_id bigint,
    sold_at timestamptz,
    deactivated_at timestamptz,
    removed_at timestamptz,
    times_seen integer NOT NULL DEFAULT 1,
    first_seen_at timestamptz NOT NULL,
    first_seen_run_id bigint,
    last_seen_at timestamptz NOT NULL,
    last_seen_run_id bigint,
    last_scraped_at timestamptz,
    last_verified_at timestamptz,
    anchor_at timestamptz NOT NULL GENERATED ALWAYS AS (greatest(last_seen_at, last_verified_at)) STORED,
    detail_due_at timestamptz,
    stock_observed_at timestamptz,
    unread_since timestamptz,
    CONSTRAINT uq_listings_source_id_canonical_url UNIQUE (source_id, canonical_url),
    CONSTRAINT uq_listings_source_id_identity_key UNIQUE (source_id, identity_key),
    CONSTRAINT ck_listings_availability
        CHECK (availability IN ('IN_STOCK', 'OUT_OF_STOCK', 'BACKORDER', 'SOLD', 'LISTED')),
    CONSTRAINT ck_listings_currency CHECK (currency ~ '^[A-Z]{3}$'),
    -- Counting to 255 in the pattern takes fourteen times as long as length().
    CONSTRAINT ck_listings_identity_key
        CHECK (identity_key ~ '^(PID|SKU|URL):[^:]+$' AND length(identity_key) <= 259),
    CONSTRAINT ck_listings_price_cents CHECK (price_cents IS NULL OR price_cents BETWEEN 1 AND 99999999),
    CONSTRAINT ck_listings_price_has_currency CHECK (price_cents IS NULL OR currency IS NOT NULL),
    CONSTRAINT ck_listings_price_max_cents
        CHECK (price_max_cents IS NULL OR price_max_cents BETWEEN 1 AND 99999999),
    CONSTRAINT ck_listings_verification_status
        CHECK (verification_status IS NULL OR verification_status IN ('pending', 'verified', 'gone'))
);
CREATE INDEX ix_listings_anchor_at ON listings (market_id, anchor_at) WHERE active;
CREATE INDEX ix_listings_detail_due_at ON listings (market_id, detail_due_at NULLS FIRST)
    WHERE active AND verification_requested_at IS NULL;
CREATE INDEX ix_listings_handed_over ON listings (market_id, verification_requested_at)
    WHERE verification_requested_at IS NOT NULL;
CREATE INDEX ix_listings_handed_over_alone ON listings (source_id, verification_requested_at)
    WHERE verification_requested_at IS NOT NULL AND market_id IS NULL;
CREATE INDEX ix_listings_inactive ON listings (id) WHERE NOT active;
CREATE INDEX ix_listings_last_scraped_at ON listings (source_id, last_scraped_at)
    WHERE last_scraped_at IS NOT NULL;
CREATE INDEX ix_listings_price_observed_at ON listings (price_observed_at)
    WHERE active AND price_cents IS NOT NULL;
CREATE INDEX ix_listings_product_id ON listings (product_id) WHERE product_id IS NOT NULL;
CREATE INDEX ix_listings_title ON listings USING gin (words_of(title));
CREATE INDEX ix_listings_to_resolve ON listings (id) WHERE resolve_requested_at IS NOT NULL;

CREATE TABLE seller_history (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_seller_history PRIMARY KEY,
    seller_id bigint NOT NULL CONSTRAINT fk_seller_history_seller_id_sellers REFERENCES sellers(id),
    name text,
    type text,
    observed_at timestamptz NOT NULL,
    run_id bigint,
    CONSTRAINT ck_seller_history_type CHECK (type IS NULL OR type IN ('user', 'shop'))
);
CREATE INDEX ix_seller_history_seller_id ON seller_history (seller_id, observed_at);

CREATE TABLE listing_identifiers (
    listing_id bigint NOT NULL CONSTRAINT fk_listing_identifiers_listing_id_listings REFERENCES listings(id),
    kind text NOT NULL,
    value text NOT NULL,
    first_seen_at timestamptz NOT NULL,
    CONSTRAINT pk_listing_identifiers PRIMARY KEY (listing_id, kind, value),
    CONSTRAINT ck_listing_identifiers_kind
        CHECK (kind IN ('GTIN', 'UPC', 'EAN', 'ISBN', 'MPN', 'SKU', 'PID'))
);
CREATE INDEX ix_listing_identifiers_value ON listing_identifiers (kind, value);

CREATE TABLE listing_keys (
    listing_id bigint CONSTRAINT pk_listing_keys PRIMARY KEY
        CONSTRAINT fk_listing_keys_listing_id_listings REFERENCES listings(id),
    gtin text,
    brand_mpn text,
    fingerprint text,
    product_key text
);
CREATE INDEX ix_listing_keys_brand_mpn ON listing_keys (brand_mpn) WHERE brand_mpn IS NOT NULL;
CREATE INDEX ix_listing_keys_fingerprint ON listing_keys (fingerprint) WHERE fingerprint IS NOT NULL;

CREATE TABLE market_listings (
    market_id text NOT NULL CONSTRAINT fk_market_listings_market_id_markets REFERENCES markets(id),
    listing_id bigint NOT NULL CONSTRAINT fk_market_listings_listing_id_listings REFERENCES listings(id),
    first_seen_at timestamptz NOT NULL,
    CONSTRAINT pk_market_listings PRIMARY KEY (market_id, listing_id)
);
CREATE INDEX ix_market_listings_listing_id ON market_listings (listing_id);

CREATE TABLE price_history (
    listing_id bigint NOT NULL CONSTRAINT fk_price_history_listing_id_listings REFERENCES listings(id),
    observed_at timestamptz NOT NULL,
    price_cents integer,
    price_max_cents integer,
    currency char(3),
    availability text NOT NULL,
    run_type text NOT NULL DEFAULT 'SCRAPE',
    run_id bigint,
    adapter_version text,
    CONSTRAINT pk_price_history PRIMARY KEY (listing_id, observed_at),
    CONSTRAINT ck_price_history_availability
        CHECK (availability IN ('IN_STOCK', 'OUT_OF_STOCK', 'BACKORDER', 'SOLD', 'LISTED')),
    CONSTRAINT ck_price_history_price_cents
        CHECK (price_cents IS NULL OR price_cents BETWEEN 1 AND 99999999),
    CONSTRAINT ck_price_history_price_has_currency CHECK (price_cents IS NULL OR currency IS NOT NULL),
    CONSTRAINT ck_price_history_run_type CHECK (run_type IN ('SCRAPE', 'REVIEW', 'REPLAY'))
) PARTITION BY RANGE (observed_at);
CREATE INDEX ix_price_history_observed_at ON price_history (observed_at);
