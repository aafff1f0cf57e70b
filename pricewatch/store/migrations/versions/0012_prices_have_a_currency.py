"""Thresholds of watch rules and price ranges of markets have a currency"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

# What such a rule was shown in: the currency of its listing, of its product's active listings, or EUR.
WATCH_RULES = """
ALTER TABLE watch_rules ADD COLUMN currency character(3), ADD COLUMN last_fired_currency character(3);
UPDATE watch_rules r SET currency = coalesce(
    (SELECT l.currency FROM listings l WHERE l.id = r.listing_id),
    (SELECT min(l.currency) FROM listings l WHERE l.product_id = r.product_id AND l.active),
    (SELECT min(l.currency) FROM listings l WHERE l.product_id = r.product_id),
    (SELECT coalesce(l.currency, t.selectors ->> 'currency')
     FROM targets t LEFT JOIN listings l ON l.id = t.listing_id WHERE t.id = r.target_id),
    'EUR')
WHERE r.threshold_cents IS NOT NULL;
UPDATE watch_rules r SET last_fired_currency = coalesce(
    r.currency,
    (SELECT l.currency FROM listings l WHERE l.id = r.listing_id),
    (SELECT s.currency FROM watch_states s WHERE s.rule_id = r.id AND s.currency IS NOT NULL
     ORDER BY s.observed_at DESC LIMIT 1))
WHERE r.last_fired_price_cents IS NOT NULL;
ALTER TABLE watch_rules
    ADD CONSTRAINT ck_watch_rules_threshold_has_currency CHECK (threshold_cents IS NULL OR currency IS NOT NULL),
    ADD CONSTRAINT ck_watch_rules_currency CHECK (currency ~ '^[A-Z]{3}$');
"""

# The currency that most of a market's listings have, or else its adapter's.
MARKETS = """
ALTER TABLE markets ADD COLUMN price_currency character(3);
UPDATE markets m SET price_currency = coalesce(
    (SELECT l.currency FROM market_listings ml JOIN listings l ON l.id = ml.listing_id
     WHERE ml.market_id = m.id AND l.currency IS NOT NULL
     GROUP BY l.currency ORDER BY count(*) DESC, l.currency LIMIT 1),
    (SELECT CASE s.adapter_id WHEN 'mercari' THEN 'JPY' WHEN 'apartments' THEN 'USD' WHEN 'sgammo' THEN 'USD'
            ELSE 'EUR' END FROM sources s WHERE s.id = m.source_id))
WHERE m.min_price_cents IS NOT NULL OR m.max_price_cents IS NOT NULL;
ALTER TABLE markets
    ADD CONSTRAINT ck_markets_price_range_has_currency
        CHECK (price_currency IS NOT NULL OR (min_price_cents IS NULL AND max_price_cents IS NULL)),
    ADD CONSTRAINT ck_markets_price_currency CHECK (price_currency ~ '^[A-Z]{3}$');
"""


def upgrade() -> None:
    for statement in (WATCH_RULES, MARKETS):
        op.execute(statement)


def downgrade() -> None:
    op.execute("ALTER TABLE watch_rules DROP COLUMN currency, DROP COLUMN last_fired_currency")
    op.execute("ALTER TABLE markets DROP COLUMN price_currency")
