"""Search in all that a listing shows, and numbers in attributes.

ix_listings_title only serves processes of the previous version, which search titles. The migration of the
version after this one may drop it, with `contracts = "0906"`. Listings get their `seller_name` when they are
seen again.
"""

from alembic import op

revision = "0906"
down_revision = "0905"
branch_labels = None
depends_on = None

# Lower case without accents, and a space in place of every punctuation mark, so that the parts of "2-Zimmer"
# are words. Most texts are ASCII, for which the last step is enough. Written out in two functions: while an
# index is built or analysed, a function of an index finds no other function of ours.
FOLD = r"""
    IF octet_length(folded) <> length(folded) THEN
        folded := lower(regexp_replace(normalize(folded, NFKD), '[\u0300-\u036f]', '', 'g'));
        folded := replace(replace(replace(folded, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe');
        folded := translate(folded, 'øđðłıħŧ', 'oddliht');
    END IF;
    folded := regexp_replace(lower(folded),
        '[\u0001-/:-@[-`{-\u00bf\u00d7\u00f7\u2000-\u2bff\u3000-\u303f\uff00-\uff0f]+', ' ', 'g');
"""
FUNCTIONS = (
    f"""
CREATE FUNCTION fold_letters(words text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE folded text := words;
BEGIN
    {FOLD}
    RETURN folded;
END $$
""",
    # States its cost as words_of does, or the planner reads every listing instead of the index. A tsvector
    # is limited to a megabyte, and a listing with a long attribute must not be refused.
    f"""
CREATE FUNCTION listing_words(title text, brand text, location text, seller_name text, attributes jsonb)
RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
DECLARE folded text := concat_ws(' ', title, brand, location, seller_name);
BEGIN
    IF jsonb_typeof(attributes) = 'object' AND attributes <> '{{}}' THEN
        folded := concat_ws(' ', folded, (SELECT string_agg(a.value, ' ') FROM jsonb_each_text(attributes) a));
    END IF;
    folded := left(folded, 20000);
    {FOLD}
    RETURN to_tsvector('pg_catalog.simple'::regconfig, folded);
END $$
""",
    # As websearch_to_tsquery reads a search: words, "a phrase", -excluded, or; also pre*. Words that a
    # punctuation mark joins are a phrase.
    r"""
CREATE FUNCTION listing_query(wanted text, unwanted text) RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    part record;
    term tsquery;
    phrase text;
    all_of tsquery;
    any_of tsquery;
    excluded tsquery;
BEGIN
    FOR part IN
        SELECT true AS is_wanted, m[1] = '-' AS is_negated, m[2] AS word
        FROM regexp_matches(wanted, '(-?)("[^"]*"?|[^\s"]+)', 'g') m
        UNION ALL
        SELECT false, false, m[1] FROM regexp_matches(replace(unwanted, ',', ' '), '("[^"]*"?|[^\s"]+)', 'g') m
    LOOP
        IF part.is_wanted AND NOT part.is_negated AND lower(part.word) = 'or' THEN
            any_of := coalesce(any_of || all_of, any_of, all_of);
            all_of := NULL;
            CONTINUE;
        END IF;
        SELECT string_agg('''' || w || '''', ' <-> ') INTO phrase
        FROM regexp_split_to_table(btrim(fold_letters(part.word)), ' +') w WHERE w <> '';
        CONTINUE WHEN phrase IS NULL;
        IF part.word ~ '[*]"?$' THEN
            phrase := phrase || ':*';
        END IF;
        term := to_tsquery('simple'::regconfig, phrase);
        IF NOT part.is_wanted THEN
            excluded := coalesce(excluded || term, term);
        ELSIF part.is_negated THEN
            all_of := coalesce(all_of && !! term, !! term);
        ELSE
            all_of := coalesce(all_of && term, term);
        END IF;
    END LOOP;
    any_of := coalesce(any_of || all_of, any_of, all_of);
    RETURN coalesce(any_of && !! excluded, any_of, !! excluded, ''::tsquery);
END $$
""",
    """
CREATE FUNCTION place_words(location text, attributes jsonb) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_tsvector('simple'::regconfig, fold_letters(
        concat_ws(' ', location, attributes ->> 'postcode', attributes ->> 'district')))
$$
""",
    # Any of several places: what has a digit is the beginning of a postcode, anything else is whole words.
    """
CREATE FUNCTION place_query(places text) RETURNS tsquery LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    place text;
    phrase text;
    any_of tsquery := '';
BEGIN
    FOREACH place IN ARRAY string_to_array(places, ',') LOOP
        SELECT string_agg('''' || w || '''', ' <-> ') INTO phrase
        FROM regexp_split_to_table(btrim(fold_letters(place)), ' +') w WHERE w <> '';
        CONTINUE WHEN phrase IS NULL;
        IF phrase ~ '[0-9][^ ]*$' THEN
            phrase := phrase || ':*';
        END IF;
        any_of := any_of || to_tsquery('simple'::regconfig, phrase);
    END LOOP;
    RETURN any_of;
END $$
""",
    # The first number of a text. A mark before three digits separates thousands: 1.200 is 1200, 2,5 is 2.5.
    """
CREATE FUNCTION attribute_number(value jsonb) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    said text := left(btrim(value #>> '{}'), 100);
    digits text;
BEGIN
    IF jsonb_typeof(value) = 'number' THEN RETURN (value #>> '{}')::numeric; END IF;
    IF jsonb_typeof(value) <> 'string' THEN RETURN NULL; END IF;
    said := regexp_replace(said, '([0-9]) ?½', '\\1,5');
    digits := substring(said FROM '[0-9]+(?:[.,''’][0-9]+|[ \u00a0\u202f][0-9]{3}(?![0-9]))*');
    digits := regexp_replace(digits, '[''’ \u00a0\u202f]', '', 'g');
    digits := CASE
        WHEN digits ~ '^[1-9][0-9]{0,2}([.][0-9]{3})+(,[0-9]+)?$'
            THEN replace(replace(digits, '.', ''), ',', '.')
        WHEN digits ~ '^[1-9][0-9]{0,2}(,[0-9]{3})+([.][0-9]+)?$' THEN replace(digits, ',', '')
        WHEN digits ~ '^[0-9]+([.,][0-9]+)?$' THEN replace(digits, ',', '.') END;
    RETURN CASE WHEN said ~ '^[-−] ?[0-9]' THEN -digits::numeric ELSE digits::numeric END;
END $$
""",
    """
CREATE FUNCTION attribute_is(value jsonb, wanted text) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT EXISTS (
        SELECT FROM jsonb_array_elements_text(
            CASE jsonb_typeof(value) WHEN 'array' THEN value ELSE jsonb_build_array(value) END) said
        WHERE btrim(fold_letters(said)) = btrim(fold_letters(wanted)))
$$
""",
    """
CREATE FUNCTION listing_rooms(attributes jsonb) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(attribute_number(attributes -> 'rooms'), attribute_number(attributes -> 'beds'))
$$
""",
    # In minor units per square metre.
    """
CREATE FUNCTION unit_price_cents(price_cents integer, area numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN area BETWEEN 0.01 AND 1000000000 THEN round(price_cents / area)::bigint END
$$
""",
)


def upgrade() -> None:
    for function in FUNCTIONS:
        op.execute(function)
    op.execute("ALTER TABLE listings ADD COLUMN seller_name text")
    op.execute("""
        CREATE OR REPLACE VIEW visible_listings AS
        SELECT l.id, l.source_id, l.market_id, l.identity_key, l.url, l.canonical_url, l.title, l.price_cents,
               l.price_max_cents, l.currency, l.availability, l.price_observed_at, l.shipping_cents, l.tax_included,
               l.platform_id, l.sku, l.gtin, l.mpn, l.brand, l.seller_id, l.location, l.area, l.attributes,
               l.image_url, l.adapter_version, l.product_id, l.product_link, l.resolve_requested_at, l.active,
               l.verification_status, l.verification_requested_at, l.strikes, l.last_strike_run_id, l.sold_at,
               l.deactivated_at, l.removed_at, l.times_seen, l.first_seen_at, l.first_seen_run_id, l.last_seen_at,
               l.last_seen_run_id, l.last_scraped_at, l.last_verified_at, l.anchor_at, l.detail_due_at,
               l.stock_observed_at,
               f.tier, f.confidence, f.price_confidence,
               least(f.confidence, f.price_confidence) AS freshness_confidence,
               l.seller_name
        FROM listings l
        JOIN listing_freshness f ON f.listing_id = l.id
        JOIN sources s ON s.id = l.source_id
        WHERE s.visibility = 'VISIBLE' AND l.active AND l.removed_at IS NULL AND f.confidence >= 40
    """)
    op.execute("""
        CREATE INDEX ix_listings_words ON listings
            USING gin (listing_words(title, brand, location, seller_name, attributes))
    """)
    # The estimate that a search relies on needs statistics of the index.
    op.execute("ANALYZE listings")
