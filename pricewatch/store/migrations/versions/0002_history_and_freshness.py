"""Price history in monthly partitions that nobody can change, and freshness computed when read"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

APPEND_ONLY = """
CREATE FUNCTION refuse_change_of_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'price_history is append-only: % refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON price_history
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_history();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON price_history
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_history();
"""

# Rows of a month that has no partition go to the default one, so that none is ever refused.
PARTITIONS = """
CREATE TABLE price_history_other PARTITION OF price_history DEFAULT;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON price_history_other
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_history();

CREATE FUNCTION make_price_history_partition(month date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first date := date_trunc('month', month)::date;
    name text := 'price_history_' || to_char(first, 'YYYY_MM');
BEGIN
    IF to_regclass(name) IS NOT NULL THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(hashtext(name));
    IF to_regclass(name) IS NOT NULL THEN RETURN; END IF;
    IF EXISTS (SELECT FROM price_history_other
               WHERE observed_at >= first AND observed_at < first + interval '1 month') THEN RETURN; END IF;
    EXECUTE format(
        'CREATE TABLE %I PARTITION OF price_history FOR VALUES FROM (%L) TO (%L)',
        name, first::timestamp AT TIME ZONE 'UTC', (first + interval '1 month') AT TIME ZONE 'UTC');
    EXECUTE format(
        'CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I
         FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_history()', name);
END $$;
"""

# The rule itself is pricewatch.rules.freshness; a property test keeps the two equal.
FRESHNESS = """
CREATE FUNCTION confidence(tier text, seen_at timestamptz, verified_at timestamptz, at timestamptz)
RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT greatest(0, floor(
        CASE WHEN verified_at > seen_at THEN 80 ELSE 100 END
        - greatest(0, extract(epoch FROM at - greatest(seen_at, verified_at))) / 3600
          * CASE tier WHEN 'hot' THEN 3 WHEN 'cool' THEN 1 ELSE 2 END))::integer
$$;

CREATE VIEW listing_freshness AS
SELECT l.id AS listing_id,
       coalesce(m.tier, 'standard') AS tier,
       confidence(coalesce(m.tier, 'standard'), l.last_seen_at, l.last_verified_at, now()) AS confidence
FROM listings l LEFT JOIN markets m ON m.id = l.market_id;

CREATE VIEW visible_listings AS
SELECT l.*, f.tier, f.confidence
FROM listings l
JOIN listing_freshness f ON f.listing_id = l.id
JOIN sources s ON s.id = l.source_id
WHERE s.visibility = 'VISIBLE' AND l.active AND l.removed_at IS NULL AND f.confidence >= 40;
"""


def upgrade() -> None:
    for statement in (APPEND_ONLY, PARTITIONS, FRESHNESS):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP VIEW visible_listings, listing_freshness")
    op.execute("DROP FUNCTION confidence, make_price_history_partition")
    op.execute("DROP TABLE price_history_other")
    op.execute("DROP FUNCTION refuse_change_of_history CASCADE")
