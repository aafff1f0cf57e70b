"""The whole schema"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "adapter_status",
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("disabled_reason", sa.Text(), nullable=True),
        sa.Column("disabled_by", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("watch_next_run", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("baseline_failure_rate", sa.Numeric(precision=5, scale=4), nullable=True),
        sa.Column("baseline_yield_rate", sa.Numeric(precision=5, scale=4), nullable=True),
        sa.Column("baseline_sample_size", sa.Integer(), server_default="0", nullable=False),
        sa.Column("baseline_updated_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("consecutive_failed_batches", sa.Integer(), server_default="0", nullable=False),
        sa.Column("consecutive_empty_batches", sa.Integer(), server_default="0", nullable=False),
        sa.Column("consecutive_zero_price_batches", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_batch_failure_rate", sa.Numeric(precision=5, scale=4), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "disabled_reason IS NULL OR disabled_reason IN ('MANUAL', 'DRIFT_DETECTED', 'TOS_VIOLATION')",
            name=op.f("ck_adapter_status_disabled_reason"),
        ),
        sa.PrimaryKeyConstraint("adapter_id", name=op.f("pk_adapter_status")),
    )
    op.create_table(
        "alerts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("details", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("count", sa.Integer(), server_default="1", nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("notified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resolved_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("severity IN ('P1', 'P2', 'P3')", name=op.f("ck_alerts_severity")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alerts")),
    )
    op.create_index("ix_alerts_last_at", "alerts", ["last_at"], unique=False)
    op.create_index(
        "uq_alerts_open", "alerts", ["key"], unique=True, postgresql_where=sa.text("resolved_at IS NULL")
    )
    op.create_table(
        "collected_cards",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("start_page", sa.Text(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("identity_key", sa.Text(), nullable=False),
        sa.Column("card", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collected_cards")),
        prefixes=["UNLOGGED"],
    )
    op.create_index(
        "ix_collected_cards_identity_key", "collected_cards", ["run_id", "identity_key"], unique=False
    )
    op.create_table(
        "products",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("brand", sa.Text(), nullable=True),
        sa.Column("mpn", sa.Text(), nullable=True),
        sa.Column("gtin", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_products")),
        sa.UniqueConstraint("key", name=op.f("uq_products_key")),
    )
    op.create_index(
        "ix_products_gtin", "products", ["gtin"], unique=False, postgresql_where=sa.text("gtin IS NOT NULL")
    )
    op.create_table(
        "proxy_blocks",
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("proxy", sa.Text(), nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("blocked_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("failure_count", sa.Integer(), server_default="1", nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("domain", "proxy", name=op.f("pk_proxy_blocks")),
    )
    op.create_index("ix_proxy_blocks_blocked_until", "proxy_blocks", ["blocked_until"], unique=False)
    op.create_table(
        "rate_limits",
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), server_default="epoch", nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), server_default="epoch", nullable=False),
        sa.Column("holders", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.PrimaryKeyConstraint("domain", name=op.f("pk_rate_limits")),
        postgresql_with={"fillfactor": 50},
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "retailers",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("homepage", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_retailers")),
        sa.UniqueConstraint("name", name=op.f("uq_retailers_name")),
    )
    op.create_table(
        "robots_cache",
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("http_status", sa.SmallInteger(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "outcome IN ('rules', 'no_rules', 'unavailable')", name=op.f("ck_robots_cache_outcome")
        ),
        sa.PrimaryKeyConstraint("origin", name=op.f("pk_robots_cache")),
    )
    op.create_table(
        "target_queue",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("rejected_cycles", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_cycle_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_offered", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_accepted", sa.Integer(), server_default="0", nullable=False),
        sa.Column("accepted_total", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column(
            "rejected_total", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False
        ),
        sa.CheckConstraint("id = 1", name=op.f("ck_target_queue_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_target_queue")),
    )
    op.create_table(
        "sources",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("retailer_id", sa.BigInteger(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=False),
        sa.Column("requests_per_second", sa.Numeric(), nullable=True),
        sa.Column("min_delay_ms", sa.Integer(), nullable=True),
        sa.Column("max_concurrent", sa.Integer(), nullable=True),
        sa.Column("proxy_strategy", sa.Text(), server_default="none", nullable=False),
        sa.Column("cooldown_minutes", sa.Integer(), server_default="30", nullable=False),
        sa.Column("headers", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("tos_reviewed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tos_approved_by", sa.Text(), nullable=True),
        sa.Column("robots_compliant", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("visibility", sa.Text(), server_default="INELIGIBLE", nullable=False),
        sa.Column("upc_trusted", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "proxy_strategy IN ('none', 'datacenter', 'residential')", name=op.f("ck_sources_proxy_strategy")
        ),
        sa.CheckConstraint(
            "visibility IN ('INELIGIBLE', 'VISIBLE', 'HIDDEN')", name=op.f("ck_sources_visibility")
        ),
        sa.ForeignKeyConstraint(
            ["retailer_id"], ["retailers.id"], name=op.f("fk_sources_retailer_id_retailers")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sources")),
    )
    op.create_index("ix_sources_domain", "sources", ["domain"], unique=False)
    op.create_table(
        "markets",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("display_name", sa.Text(), nullable=False),
        sa.Column(
            "start_pages", postgresql.JSONB(astext_type=sa.Text()), server_default="[]", nullable=False
        ),
        sa.Column("parameters", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("city", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=True),
        sa.Column("keyword", sa.Text(), nullable=True),
        sa.Column(
            "exclude_keywords", postgresql.JSONB(astext_type=sa.Text()), server_default="[]", nullable=False
        ),
        sa.Column("category", sa.Text(), nullable=True),
        sa.Column("min_price_cents", sa.Integer(), nullable=True),
        sa.Column("max_price_cents", sa.Integer(), nullable=True),
        sa.Column("tier", sa.Text(), server_default="standard", nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("scrape_frequency_hours", sa.Integer(), nullable=True),
        sa.Column("max_listings_per_scrape", sa.Integer(), server_default="100", nullable=False),
        sa.Column("max_pages", sa.Integer(), nullable=True),
        sa.Column("page_size", sa.Integer(), nullable=True),
        sa.Column("last_scrape_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_scrape_status", sa.Text(), nullable=True),
        sa.Column("consecutive_failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_discovery_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_sweep_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_verification_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("first_read_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sweep_page", sa.Integer(), nullable=True),
        sa.Column("sweep_start_page", sa.Text(), nullable=True),
        sa.Column("sweep_cycle_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sweep_cycle_seen", sa.Integer(), server_default="0", nullable=False),
        sa.Column("sweep_last_complete_seen", sa.Integer(), nullable=True),
        sa.Column("sweep_last_complete_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sweep_last_pages", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "last_scrape_status IS NULL OR last_scrape_status IN ('completed', 'failed', 'partial')",
            name=op.f("ck_markets_last_scrape_status"),
        ),
        sa.CheckConstraint("tier IN ('hot', 'standard', 'cool')", name=op.f("ck_markets_tier")),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_markets_source_id_sources")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_markets")),
    )
    op.create_index(
        "ix_markets_due", "markets", ["last_scrape_at"], unique=False, postgresql_where=sa.text("enabled")
    )
    op.create_index("ix_markets_source_id", "markets", ["source_id"], unique=False)
    op.create_table(
        "sellers",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("platform_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("type", sa.Text(), nullable=True),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("type IS NULL OR type IN ('user', 'shop')", name=op.f("ck_sellers_type")),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_sellers_source_id_sources")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sellers")),
        sa.UniqueConstraint("source_id", "platform_id", name=op.f("uq_sellers_source_id_platform_id")),
    )
    op.create_table(
        "listings",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=True),
        sa.Column("identity_key", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("canonical_url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("price_cents", sa.Integer(), nullable=True),
        sa.Column("price_max_cents", sa.Integer(), nullable=True),
        sa.Column("currency", sa.CHAR(length=3), nullable=True),
        sa.Column("availability", sa.Text(), nullable=False),
        sa.Column("price_observed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("shipping_cents", sa.Integer(), nullable=True),
        sa.Column("tax_included", sa.Boolean(), nullable=True),
        sa.Column("platform_id", sa.Text(), nullable=True),
        sa.Column("sku", sa.Text(), nullable=True),
        sa.Column("gtin", sa.Text(), nullable=True),
        sa.Column("mpn", sa.Text(), nullable=True),
        sa.Column("brand", sa.Text(), nullable=True),
        sa.Column("seller_id", sa.BigInteger(), nullable=True),
        sa.Column("location", sa.Text(), nullable=True),
        sa.Column("area", sa.Numeric(), nullable=True),
        sa.Column("attributes", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("image_url", sa.Text(), nullable=True),
        sa.Column("adapter_version", sa.Text(), nullable=True),
        sa.Column("product_id", sa.BigInteger(), nullable=True),
        sa.Column("product_link", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("resolve_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("verification_status", sa.Text(), nullable=True),
        sa.Column("verification_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("strikes", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("last_strike_run_id", sa.BigInteger(), nullable=True),
        sa.Column("sold_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deactivated_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("times_seen", sa.Integer(), server_default="1", nullable=False),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("first_seen_run_id", sa.BigInteger(), nullable=True),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_run_id", sa.BigInteger(), nullable=True),
        sa.Column("last_scraped_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "anchor_at",
            sa.DateTime(timezone=True),
            sa.Computed("greatest(last_seen_at, last_verified_at)", persisted=True),
            nullable=False,
        ),
        sa.Column("detail_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "availability IN ('IN_STOCK', 'OUT_OF_STOCK', 'BACKORDER', 'SOLD')",
            name=op.f("ck_listings_availability"),
        ),
        sa.CheckConstraint("currency ~ '^[A-Z]{3}$'", name=op.f("ck_listings_currency")),
        sa.CheckConstraint(
            "identity_key ~ '^(PID|SKU|URL):[^:]{1,255}$'", name=op.f("ck_listings_identity_key")
        ),
        sa.CheckConstraint(
            "verification_status IS NULL OR verification_status IN ('pending', 'verified', 'gone')",
            name=op.f("ck_listings_verification_status"),
        ),
        sa.CheckConstraint(
            "price_cents IS NULL OR currency IS NOT NULL", name=op.f("ck_listings_price_has_currency")
        ),
        sa.CheckConstraint(
            "price_cents IS NULL OR price_cents BETWEEN 1 AND 99999999", name=op.f("ck_listings_price_cents")
        ),
        sa.CheckConstraint(
            "price_max_cents IS NULL OR price_max_cents BETWEEN 1 AND 99999999",
            name=op.f("ck_listings_price_max_cents"),
        ),
        sa.ForeignKeyConstraint(["market_id"], ["markets.id"], name=op.f("fk_listings_market_id_markets")),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_listings_product_id_products")
        ),
        sa.ForeignKeyConstraint(["seller_id"], ["sellers.id"], name=op.f("fk_listings_seller_id_sellers")),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_listings_source_id_sources")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_listings")),
        sa.UniqueConstraint("source_id", "canonical_url", name=op.f("uq_listings_source_id_canonical_url")),
        sa.UniqueConstraint("source_id", "identity_key", name=op.f("uq_listings_source_id_identity_key")),
    )
    op.create_index(
        "ix_listings_anchor_at",
        "listings",
        ["market_id", "anchor_at"],
        unique=False,
        postgresql_where=sa.text("active"),
    )
    op.create_index(
        "ix_listings_detail_due_at",
        "listings",
        ["market_id", sa.literal_column("detail_due_at NULLS FIRST")],
        unique=False,
        postgresql_where=sa.text("active AND verification_requested_at IS NULL"),
    )
    op.create_index(
        "ix_listings_handed_over",
        "listings",
        ["market_id", "verification_requested_at"],
        unique=False,
        postgresql_where=sa.text("verification_requested_at IS NOT NULL"),
    )
    op.create_index(
        "ix_listings_product_id",
        "listings",
        ["product_id"],
        unique=False,
        postgresql_where=sa.text("product_id IS NOT NULL"),
    )
    op.create_index(
        "ix_listings_title",
        "listings",
        [sa.literal_column("to_tsvector('simple'::regconfig, title)")],
        unique=False,
        postgresql_using="gin",
    )
    op.create_index(
        "ix_listings_to_resolve",
        "listings",
        ["id"],
        unique=False,
        postgresql_where=sa.text("resolve_requested_at IS NOT NULL"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("spider", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=True),
        sa.Column("market_id", sa.Text(), nullable=True),
        sa.Column("adapter_id", sa.Text(), nullable=True),
        sa.Column("adapter_version", sa.Text(), nullable=True),
        sa.Column("trigger", sa.Text(), server_default="MANUAL", nullable=False),
        sa.Column("arguments", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("job_id", sa.Text(), nullable=True),
        sa.Column("node", sa.Text(), nullable=True),
        sa.Column("pid", sa.Integer(), nullable=True),
        sa.Column("status", sa.Text(), server_default="running", nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("partial", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("watched", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("pages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cards", sa.Integer(), server_default="0", nullable=False),
        sa.Column("new_listings", sa.Integer(), server_default="0", nullable=False),
        sa.Column("updated_listings", sa.Integer(), server_default="0", nullable=False),
        sa.Column("skipped_listings", sa.Integer(), server_default="0", nullable=False),
        sa.Column("price_rows", sa.Integer(), server_default="0", nullable=False),
        sa.Column("details", sa.Integer(), server_default="0", nullable=False),
        sa.Column("gone", sa.Integer(), server_default="0", nullable=False),
        sa.Column("urls_attempted", sa.Integer(), server_default="0", nullable=False),
        sa.Column("urls_succeeded", sa.Integer(), server_default="0", nullable=False),
        sa.Column("urls_failed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("offers_extracted", sa.Integer(), server_default="0", nullable=False),
        sa.Column("offers_valid", sa.Integer(), server_default="0", nullable=False),
        sa.Column("offers_dropped", sa.Integer(), server_default="0", nullable=False),
        sa.Column("offers_quarantined", sa.Integer(), server_default="0", nullable=False),
        sa.Column("zero_price_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("oos_no_price_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failure_rate", sa.Numeric(precision=5, scale=4), nullable=True),
        sa.Column("drop_rate", sa.Numeric(precision=5, scale=4), nullable=True),
        sa.Column("yield_rate", sa.Numeric(precision=5, scale=4), nullable=True),
        sa.Column("reasons", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("progress", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("errors", postgresql.JSONB(astext_type=sa.Text()), server_default="[]", nullable=False),
        sa.CheckConstraint(
            "spider IN ('discovery', 'sweep', 'verification', 'targets')", name=op.f("ck_runs_spider")
        ),
        sa.CheckConstraint(
            "status IN ('running', 'finished', 'failed', 'aborted', 'cancelled', 'stale', 'quarantined')",
            name=op.f("ck_runs_status"),
        ),
        sa.CheckConstraint(
            "trigger IN ('SCHEDULED', 'MANUAL', 'RETRY', 'RECHECK')", name=op.f("ck_runs_trigger")
        ),
        sa.ForeignKeyConstraint(["market_id"], ["markets.id"], name=op.f("fk_runs_market_id_markets")),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_runs_source_id_sources")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index("ix_runs_adapter_id", "runs", ["adapter_id", "started_at"], unique=False)
    op.create_index(
        "ix_runs_heartbeat",
        "runs",
        ["heartbeat_at"],
        unique=False,
        postgresql_where=sa.text("status = 'running'"),
    )
    op.create_index("ix_runs_job_id", "runs", ["job_id"], unique=False)
    op.create_index("ix_runs_market_id", "runs", ["market_id", "id"], unique=False)
    op.create_index("ix_runs_spider_status", "runs", ["spider", "status", "id"], unique=False)
    op.create_index("ix_runs_started_at", "runs", ["started_at"], unique=False)
    op.create_index(
        "uq_runs_running",
        "runs",
        ["spider", "market_id"],
        unique=True,
        postgresql_where=sa.text("status = 'running' AND market_id IS NOT NULL"),
    )
    op.create_table(
        "seller_history",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("seller_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("type", sa.Text(), nullable=True),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("type IS NULL OR type IN ('user', 'shop')", name=op.f("ck_seller_history_type")),
        sa.ForeignKeyConstraint(
            ["seller_id"], ["sellers.id"], name=op.f("fk_seller_history_seller_id_sellers")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seller_history")),
    )
    op.create_index(
        "ix_seller_history_seller_id", "seller_history", ["seller_id", "observed_at"], unique=False
    )
    op.create_table(
        "adapter_batches",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("urls", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("extracted", sa.Integer(), nullable=False),
        sa.Column("valid", sa.Integer(), nullable=False),
        sa.Column("dropped", sa.Integer(), nullable=False),
        sa.Column("quarantined", sa.Integer(), nullable=False),
        sa.Column("zero_prices", sa.Integer(), nullable=False),
        sa.Column("oos_no_price", sa.Integer(), nullable=False),
        sa.Column("availability_unknown", sa.Integer(), nullable=False),
        sa.Column("failure_rate", sa.Numeric(precision=5, scale=4), nullable=True),
        sa.Column("drop_rate", sa.Numeric(precision=5, scale=4), nullable=True),
        sa.Column("yield_rate", sa.Numeric(precision=5, scale=4), nullable=True),
        sa.Column("judged", sa.Boolean(), nullable=False),
        sa.Column("bad", sa.Boolean(), nullable=False),
        sa.Column("watched", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_adapter_batches_run_id_runs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "adapter_id", name=op.f("pk_adapter_batches")),
    )
    op.create_index(
        "ix_adapter_batches_adapter_id", "adapter_batches", ["adapter_id", "ended_at"], unique=False
    )
    op.create_table(
        "listing_identifiers",
        sa.Column("listing_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "kind IN ('GTIN', 'UPC', 'EAN', 'ISBN', 'MPN', 'SKU', 'PID')",
            name=op.f("ck_listing_identifiers_kind"),
        ),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listings.id"], name=op.f("fk_listing_identifiers_listing_id_listings")
        ),
        sa.PrimaryKeyConstraint("listing_id", "kind", "value", name=op.f("pk_listing_identifiers")),
    )
    op.create_index("ix_listing_identifiers_value", "listing_identifiers", ["kind", "value"], unique=False)
    op.create_table(
        "listing_keys",
        sa.Column("listing_id", sa.BigInteger(), nullable=False),
        sa.Column("gtin", sa.Text(), nullable=True),
        sa.Column("brand_mpn", sa.Text(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=True),
        sa.Column("product_key", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listings.id"], name=op.f("fk_listing_keys_listing_id_listings")
        ),
        sa.PrimaryKeyConstraint("listing_id", name=op.f("pk_listing_keys")),
    )
    op.create_index(
        "ix_listing_keys_brand_mpn",
        "listing_keys",
        ["brand_mpn"],
        unique=False,
        postgresql_where=sa.text("brand_mpn IS NOT NULL"),
    )
    op.create_index(
        "ix_listing_keys_fingerprint",
        "listing_keys",
        ["fingerprint"],
        unique=False,
        postgresql_where=sa.text("fingerprint IS NOT NULL"),
    )
    op.create_table(
        "market_listings",
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("listing_id", sa.BigInteger(), nullable=False),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listings.id"], name=op.f("fk_market_listings_listing_id_listings")
        ),
        sa.ForeignKeyConstraint(
            ["market_id"], ["markets.id"], name=op.f("fk_market_listings_market_id_markets")
        ),
        sa.PrimaryKeyConstraint("market_id", "listing_id", name=op.f("pk_market_listings")),
    )
    op.create_index("ix_market_listings_listing_id", "market_listings", ["listing_id"], unique=False)
    op.create_table(
        "price_history",
        sa.Column("listing_id", sa.BigInteger(), nullable=False),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("price_cents", sa.Integer(), nullable=True),
        sa.Column("price_max_cents", sa.Integer(), nullable=True),
        sa.Column("currency", sa.CHAR(length=3), nullable=True),
        sa.Column("availability", sa.Text(), nullable=False),
        sa.Column("run_type", sa.Text(), server_default="SCRAPE", nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("adapter_version", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "availability IN ('IN_STOCK', 'OUT_OF_STOCK', 'BACKORDER', 'SOLD')",
            name=op.f("ck_price_history_availability"),
        ),
        sa.CheckConstraint(
            "run_type IN ('SCRAPE', 'REVIEW', 'REPLAY')", name=op.f("ck_price_history_run_type")
        ),
        sa.CheckConstraint(
            "price_cents IS NULL OR currency IS NOT NULL", name=op.f("ck_price_history_price_has_currency")
        ),
        sa.CheckConstraint(
            "price_cents IS NULL OR price_cents BETWEEN 1 AND 99999999",
            name=op.f("ck_price_history_price_cents"),
        ),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listings.id"], name=op.f("fk_price_history_listing_id_listings")
        ),
        sa.PrimaryKeyConstraint("listing_id", "observed_at", name=op.f("pk_price_history")),
        postgresql_partition_by="RANGE (observed_at)",
    )
    op.create_table(
        "run_pages",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("start_page", sa.Text(), nullable=True),
        sa.Column("page", sa.Integer(), nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("http_status", sa.SmallInteger(), nullable=True),
        sa.Column("cards", sa.Integer(), server_default="0", nullable=False),
        sa.Column("new_listings", sa.Integer(), server_default="0", nullable=False),
        sa.Column("updated_listings", sa.Integer(), server_default="0", nullable=False),
        sa.Column("price_rows", sa.Integer(), server_default="0", nullable=False),
        sa.Column("dropped", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("duration_ms", sa.Integer(), nullable=True),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "outcome IN ('ok', 'empty', 'repeated', 'blocked', 'robots', 'http_error', 'network_error', 'unreadable')",
            name=op.f("ck_run_pages_outcome"),
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_run_pages_run_id_runs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run_pages")),
    )
    op.create_index("ix_run_pages_run_id", "run_pages", ["run_id", "id"], unique=False)
    op.create_table(
        "targets",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("listing_id", sa.BigInteger(), nullable=True),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("canonical_url", sa.Text(), nullable=False),
        sa.Column("selectors", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("schedule", sa.Text(), server_default="0 */4 * * *", nullable=False),
        sa.Column("priority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("status", sa.Text(), server_default="ACTIVE", nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("robots_path_blocked", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("next_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("queue_state", sa.Text(), server_default="idle", nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("leased_by", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_scraped_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_status", sa.Text(), nullable=True),
        sa.Column("last_reason", sa.Text(), nullable=True),
        sa.Column("last_run_id", sa.BigInteger(), nullable=True),
        sa.Column("consecutive_failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_by", sa.Text(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "last_status IS NULL OR last_status IN ('SUCCESS', 'FAILED', 'DROPPED', 'QUARANTINED')",
            name=op.f("ck_targets_last_status"),
        ),
        sa.CheckConstraint(
            "queue_state IN ('idle', 'pending', 'leased')", name=op.f("ck_targets_queue_state")
        ),
        sa.CheckConstraint(
            "status IN ('ACTIVE', 'PAUSED', 'BROKEN', 'STALE')", name=op.f("ck_targets_status")
        ),
        sa.CheckConstraint("priority BETWEEN -100 AND 100", name=op.f("ck_targets_priority")),
        sa.ForeignKeyConstraint(["listing_id"], ["listings.id"], name=op.f("fk_targets_listing_id_listings")),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_targets_source_id_sources")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_targets")),
        sa.UniqueConstraint("source_id", "canonical_url", name=op.f("uq_targets_source_id_canonical_url")),
    )
    op.create_index(
        "ix_targets_due",
        "targets",
        ["adapter_id", sa.literal_column("priority DESC"), "next_due_at", "id"],
        unique=False,
        postgresql_where=sa.text(
            "enabled AND NOT robots_path_blocked AND queue_state = 'idle' AND next_due_at IS NOT NULL AND status IN ('ACTIVE', 'BROKEN')"
        ),
    )
    op.create_index(
        "ix_targets_leased",
        "targets",
        ["lease_until"],
        unique=False,
        postgresql_where=sa.text("queue_state = 'leased'"),
    )
    op.create_index("ix_targets_listing_id", "targets", ["listing_id"], unique=False)
    op.create_index(
        "ix_targets_pending",
        "targets",
        [sa.literal_column("priority DESC"), "queued_at", "id"],
        unique=False,
        postgresql_where=sa.text("queue_state = 'pending'"),
    )
    op.create_index(
        "ix_targets_status",
        "targets",
        ["status", "id"],
        unique=False,
        postgresql_where=sa.text("status <> 'ACTIVE'"),
    )
    op.create_table(
        "verification_attempts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("listing_id", sa.BigInteger(), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("method", sa.Text(), nullable=True),
        sa.Column("http_status", sa.SmallInteger(), nullable=True),
        sa.Column("final_url", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("marker", sa.Text(), nullable=True),
        sa.Column("strike", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.CheckConstraint(
            "outcome IN ('alive', 'not_found', 'gone', 'sold', 'trouble', 'expired')",
            name=op.f("ck_verification_attempts_outcome"),
        ),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listings.id"], name=op.f("fk_verification_attempts_listing_id_listings")
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_verification_attempts_run_id_runs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verification_attempts")),
    )
    op.create_index(
        "ix_verification_attempts_listing_id",
        "verification_attempts",
        ["listing_id", "checked_at"],
        unique=False,
    )
    op.create_index("ix_verification_attempts_run_id", "verification_attempts", ["run_id"], unique=False)
    op.create_table(
        "watch_rules",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("listing_id", sa.BigInteger(), nullable=True),
        sa.Column("product_id", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("threshold_cents", sa.Integer(), nullable=True),
        sa.Column("threshold_percent", sa.Numeric(), nullable=True),
        sa.Column("notify", postgresql.JSONB(astext_type=sa.Text()), server_default="[]", nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("last_fired_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_fired_price_cents", sa.Integer(), nullable=True),
        sa.Column("last_history_run_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "kind IN ('price_at_or_below', 'fell_by', 'rose_by', 'back_in_stock', 'sold', 'gone')",
            name=op.f("ck_watch_rules_kind"),
        ),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listings.id"], name=op.f("fk_watch_rules_listing_id_listings")
        ),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_watch_rules_product_id_products")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watch_rules")),
    )
    op.create_index(
        "ix_watch_rules_listing_id",
        "watch_rules",
        ["listing_id"],
        unique=False,
        postgresql_where=sa.text("enabled"),
    )
    op.create_index(
        "ix_watch_rules_product_id",
        "watch_rules",
        ["product_id"],
        unique=False,
        postgresql_where=sa.text("enabled"),
    )
    op.create_table(
        "quarantine",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("target_id", sa.BigInteger(), nullable=True),
        sa.Column("listing_id", sa.BigInteger(), nullable=True),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("adapter_version", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("identity_key", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("offer", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("details", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("page_hash", sa.Text(), nullable=True),
        sa.Column("page", sa.LargeBinary(), nullable=True),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reviewed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reviewed_by", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "reason IN ('VALIDATION_FAILED', 'DRIFT_DETECTED', 'SELECTOR_FAILURE', 'NORMALIZATION_FAILED', 'ZERO_PRICE_EXTRACTED', 'AMBIGUOUS_PRICE')",
            name=op.f("ck_quarantine_reason"),
        ),
        sa.CheckConstraint(
            "status IN ('pending', 'accepted', 'rejected', 'replayed')", name=op.f("ck_quarantine_status")
        ),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listings.id"], name=op.f("fk_quarantine_listing_id_listings")
        ),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_quarantine_source_id_sources")),
        sa.ForeignKeyConstraint(
            ["target_id"], ["targets.id"], name=op.f("fk_quarantine_target_id_targets"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quarantine")),
    )
    op.create_index("ix_quarantine_adapter_id", "quarantine", ["adapter_id", "status"], unique=False)
    op.create_index(
        "ix_quarantine_listing", "quarantine", ["source_id", "identity_key", "status"], unique=False
    )
    op.create_index("ix_quarantine_status", "quarantine", ["status", "id"], unique=False)
    op.create_index(
        "uq_quarantine_waiting_price",
        "quarantine",
        ["listing_id"],
        unique=True,
        postgresql_where=sa.text("status = 'pending' AND listing_id IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index(
        "uq_quarantine_waiting_price",
        table_name="quarantine",
        postgresql_where=sa.text("status = 'pending' AND listing_id IS NOT NULL"),
    )
    op.drop_index("ix_quarantine_status", table_name="quarantine")
    op.drop_index("ix_quarantine_listing", table_name="quarantine")
    op.drop_index("ix_quarantine_adapter_id", table_name="quarantine")
    op.drop_table("quarantine")
    op.drop_index("ix_watch_rules_product_id", table_name="watch_rules", postgresql_where=sa.text("enabled"))
    op.drop_index("ix_watch_rules_listing_id", table_name="watch_rules", postgresql_where=sa.text("enabled"))
    op.drop_table("watch_rules")
    op.drop_index("ix_verification_attempts_run_id", table_name="verification_attempts")
    op.drop_index("ix_verification_attempts_listing_id", table_name="verification_attempts")
    op.drop_table("verification_attempts")
    op.drop_index("ix_targets_status", table_name="targets", postgresql_where=sa.text("status <> 'ACTIVE'"))
    op.drop_index(
        "ix_targets_pending", table_name="targets", postgresql_where=sa.text("queue_state = 'pending'")
    )
    op.drop_index("ix_targets_listing_id", table_name="targets")
    op.drop_index(
        "ix_targets_leased", table_name="targets", postgresql_where=sa.text("queue_state = 'leased'")
    )
    op.drop_index(
        "ix_targets_due",
        table_name="targets",
        postgresql_where=sa.text(
            "enabled AND NOT robots_path_blocked AND queue_state = 'idle' AND next_due_at IS NOT NULL AND status IN ('ACTIVE', 'BROKEN')"
        ),
    )
    op.drop_table("targets")
    op.drop_index("ix_run_pages_run_id", table_name="run_pages")
    op.drop_table("run_pages")
    op.drop_table("price_history")
    op.drop_index("ix_market_listings_listing_id", table_name="market_listings")
    op.drop_table("market_listings")
    op.drop_index(
        "ix_listing_keys_fingerprint",
        table_name="listing_keys",
        postgresql_where=sa.text("fingerprint IS NOT NULL"),
    )
    op.drop_index(
        "ix_listing_keys_brand_mpn",
        table_name="listing_keys",
        postgresql_where=sa.text("brand_mpn IS NOT NULL"),
    )
    op.drop_table("listing_keys")
    op.drop_index("ix_listing_identifiers_value", table_name="listing_identifiers")
    op.drop_table("listing_identifiers")
    op.drop_index("ix_adapter_batches_adapter_id", table_name="adapter_batches")
    op.drop_table("adapter_batches")
    op.drop_index("ix_seller_history_seller_id", table_name="seller_history")
    op.drop_table("seller_history")
    op.drop_index(
        "uq_runs_running",
        table_name="runs",
        postgresql_where=sa.text("status = 'running' AND market_id IS NOT NULL"),
    )
    op.drop_index("ix_runs_started_at", table_name="runs")
    op.drop_index("ix_runs_spider_status", table_name="runs")
    op.drop_index("ix_runs_market_id", table_name="runs")
    op.drop_index("ix_runs_job_id", table_name="runs")
    op.drop_index("ix_runs_heartbeat", table_name="runs", postgresql_where=sa.text("status = 'running'"))
    op.drop_index("ix_runs_adapter_id", table_name="runs")
    op.drop_table("runs")
    op.drop_index(
        "ix_listings_to_resolve",
        table_name="listings",
        postgresql_where=sa.text("resolve_requested_at IS NOT NULL"),
    )
    op.drop_index("ix_listings_title", table_name="listings", postgresql_using="gin")
    op.drop_index(
        "ix_listings_product_id", table_name="listings", postgresql_where=sa.text("product_id IS NOT NULL")
    )
    op.drop_index(
        "ix_listings_handed_over",
        table_name="listings",
        postgresql_where=sa.text("verification_requested_at IS NOT NULL"),
    )
    op.drop_index(
        "ix_listings_detail_due_at",
        table_name="listings",
        postgresql_where=sa.text("active AND verification_requested_at IS NULL"),
    )
    op.drop_index("ix_listings_anchor_at", table_name="listings", postgresql_where=sa.text("active"))
    op.drop_table("listings")
    op.drop_table("sellers")
    op.drop_index("ix_markets_source_id", table_name="markets")
    op.drop_index("ix_markets_due", table_name="markets", postgresql_where=sa.text("enabled"))
    op.drop_table("markets")
    op.drop_index("ix_sources_domain", table_name="sources")
    op.drop_table("sources")
    op.drop_table("target_queue")
    op.drop_table("robots_cache")
    op.drop_table("retailers")
    op.drop_table("rate_limits")
    op.drop_index("ix_proxy_blocks_blocked_until", table_name="proxy_blocks")
    op.drop_table("proxy_blocks")
    op.drop_index("ix_products_gtin", table_name="products", postgresql_where=sa.text("gtin IS NOT NULL"))
    op.drop_table("products")
    op.drop_index("ix_collected_cards_identity_key", table_name="collected_cards")
    op.drop_table("collected_cards")
    op.drop_index("uq_alerts_open", table_name="alerts", postgresql_where=sa.text("resolved_at IS NULL"))
    op.drop_index("ix_alerts_last_at", table_name="alerts")
    op.drop_table("alerts")
    op.drop_table("adapter_status")
