-- The planner counts to_tsvector as a cheap function and scans every title instead of the index; this one
-- states its cost.
CREATE FUNCTION words_of(title text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
BEGIN
    RETURN pg_catalog.to_tsvector('pg_catalog.simple'::pg_catalog.regconfig, title);
END $$;

-- The two confidence functions mirror pricewatch.rules.freshness; a property test keeps them equal.
CREATE FUNCTION confidence(tier text, seen_at timestamptz, verified_at timestamptz, at timestamptz)
RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT greatest(0, floor(
        CASE WHEN verified_at > seen_at THEN 80 ELSE 100 END
        - greatest(0, extract(epoch FROM at - greatest(seen_at, verified_at))) / 3600
          * CASE tier WHEN 'hot' THEN 3 WHEN 'cool' THEN 1 ELSE 2 END))::integer
$$;

CREATE FUNCTION price_confidence(tier text, observed_at timestamptz, at timestamptz)
RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN observed_at IS NOT NULL THEN greatest(0, floor(
        100 - greatest(0, extract(epoch FROM at - observed_at)) / 3600
          * CASE tier WHEN 'hot' THEN 1.5 WHEN 'cool' THEN 0.5 ELSE 1 END))::integer END
$$;
