"""Strict review: sources, markets and targets whose larger price changes wait for a person."""

from alembic import op

revision = "0905"
down_revision = "0904"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE strict_reviews (
            id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_strict_reviews PRIMARY KEY,
            source_id text CONSTRAINT fk_strict_reviews_source_id_sources
                REFERENCES sources(id) ON DELETE CASCADE,
            market_id text CONSTRAINT fk_strict_reviews_market_id_markets
                REFERENCES markets(id) ON DELETE CASCADE,
            target_id bigint CONSTRAINT fk_strict_reviews_target_id_targets
                REFERENCES targets(id) ON DELETE CASCADE,
            percent numeric NOT NULL,
            created_at timestamptz NOT NULL,
            created_by text NOT NULL,
            CONSTRAINT uq_strict_reviews_source_id UNIQUE (source_id),
            CONSTRAINT uq_strict_reviews_market_id UNIQUE (market_id),
            CONSTRAINT uq_strict_reviews_target_id UNIQUE (target_id),
            CONSTRAINT ck_strict_reviews_one_subject CHECK (num_nonnulls(source_id, market_id, target_id) = 1),
            CONSTRAINT ck_strict_reviews_percent CHECK (percent > 0 AND percent <= 1000)
        )
    """)
    # Of several that apply, that of the target wins, then the smallest of the markets, then that of the source.
    op.execute("""
        CREATE FUNCTION strict_review_share(of_listing bigint, of_source text) RETURNS numeric
        LANGUAGE sql STABLE AS $$
            SELECT coalesce(
                (SELECT r.percent FROM strict_reviews r JOIN targets t ON t.id = r.target_id
                 WHERE t.listing_id = of_listing ORDER BY r.percent LIMIT 1),
                (SELECT r.percent FROM strict_reviews r JOIN market_listings m ON m.market_id = r.market_id
                 WHERE m.listing_id = of_listing ORDER BY r.percent LIMIT 1),
                (SELECT r.percent FROM strict_reviews r WHERE r.source_id = of_source)) / 100
        $$
    """)
