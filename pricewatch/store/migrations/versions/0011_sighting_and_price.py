"""Sighting and price are two facts, and a stock that nobody has told is LISTED"""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

TABLES = ("listings", "price_history", "watch_states")
OLD_WORDS = "'IN_STOCK', 'OUT_OF_STOCK', 'BACKORDER', 'SOLD'"
NEW_WORDS = f"{OLD_WORDS}, 'LISTED'"

# Nothing was read where there is no price; until now the moment was that of any sighting.
COLUMNS = """
ALTER TABLE listings ADD COLUMN stock_observed_at timestamptz;
UPDATE listings SET stock_observed_at = price_observed_at, price_observed_at = NULL
WHERE price_cents IS NULL AND price_observed_at IS NOT NULL;
CREATE INDEX ix_listings_price_observed_at ON listings (price_observed_at)
    WHERE active AND price_cents IS NOT NULL;

ALTER TABLE markets
    ADD COLUMN sweep_cycle_priced integer NOT NULL DEFAULT 0,
    ADD COLUMN sweep_cycle_unpriced integer NOT NULL DEFAULT 0,
    ADD COLUMN sweep_last_price_share double precision,
    ADD COLUMN sweep_doubted_price_share double precision;
"""
NO_COLUMNS = """
DROP INDEX ix_listings_price_observed_at;
UPDATE listings SET price_observed_at = greatest(price_observed_at, stock_observed_at)
WHERE stock_observed_at IS NOT NULL;
ALTER TABLE listings DROP COLUMN stock_observed_at;
ALTER TABLE markets
    DROP COLUMN sweep_cycle_priced, DROP COLUMN sweep_cycle_unpriced,
    DROP COLUMN sweep_last_price_share, DROP COLUMN sweep_doubted_price_share;
"""

# The rule itself is pricewatch.rules.freshness; a property test keeps the two equal.
PRICE_CONFIDENCE = """
CREATE FUNCTION price_confidence(tier text, observed_at timestamptz, at timestamptz)
RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN observed_at IS NOT NULL THEN greatest(0, floor(
        100 - greatest(0, extract(epoch FROM at - observed_at)) / 3600
          * CASE tier WHEN 'hot' THEN 1.5 WHEN 'cool' THEN 0.5 ELSE 1 END))::integer END
$$;
"""

NO_VIEWS = "DROP VIEW visible_price_history, visible_listings, listing_freshness"
# Whether a listing is shown is a matter of its sighting; how sure its price is, is said beside it.
VIEWS = """
CREATE VIEW listing_freshness AS
SELECT l.id AS listing_id,
       coalesce(m.tier, 'standard') AS tier,
       confidence(coalesce(m.tier, 'standard'), l.last_seen_at, l.last_verified_at, now()) AS confidence{more}
FROM listings l LEFT JOIN markets m ON m.id = l.market_id;

CREATE VIEW visible_listings AS
SELECT l.*, f.tier, f.confidence{shown}
FROM listings l
JOIN listing_freshness f ON f.listing_id = l.id
JOIN sources s ON s.id = l.source_id
WHERE s.visibility = 'VISIBLE' AND l.active AND l.removed_at IS NULL AND f.confidence >= 40;

CREATE VIEW visible_price_history AS
SELECT h.listing_id, h.observed_at, h.price_cents, h.price_max_cents, h.currency, h.availability
FROM price_history h JOIN visible_listings l ON l.id = h.listing_id;
"""
NEW_VIEWS = VIEWS.format(
    more=""",
       price_confidence(coalesce(m.tier, 'standard'), l.price_observed_at, now()) AS price_confidence""",
    shown=", f.price_confidence, least(f.confidence, f.price_confidence) AS freshness_confidence",
)

# What nobody has told was stored as in stock before; history lets itself be changed for no other reason.
NOT_LISTED = """
DROP TRIGGER append_only ON price_history;
UPDATE price_history SET availability = 'IN_STOCK' WHERE availability = 'LISTED';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON price_history
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_history();
UPDATE listings SET availability = 'IN_STOCK' WHERE availability = 'LISTED';
UPDATE watch_states SET availability = 'IN_STOCK' WHERE availability = 'LISTED';
"""


def _allow(words: str) -> None:
    for table in TABLES:
        name = f"ck_{table}_availability"
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK (availability IN ({words}))")


def upgrade() -> None:
    op.execute(NO_VIEWS)
    op.execute(COLUMNS)
    _allow(NEW_WORDS)
    op.execute(PRICE_CONFIDENCE)
    op.execute(NEW_VIEWS)


def downgrade() -> None:
    op.execute(NO_VIEWS)
    op.execute("DROP FUNCTION price_confidence")
    op.execute(NOT_LISTED)
    _allow(OLD_WORDS)
    op.execute(NO_COLUMNS)
    op.execute(VIEWS.format(more="", shown=""))
