CREATE FUNCTION refuse_change_of_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'price_history is append-only: % refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON price_history
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_history();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON price_history
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_history();

-- The default partition takes the rows of months that have no partition, so that no row is refused.
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
