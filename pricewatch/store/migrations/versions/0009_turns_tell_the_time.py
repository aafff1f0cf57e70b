"""Turns tell the time of the database's clock, and may be asked for a little ahead"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

# As before, but for `told`, and for nothing sooner than `ahead`: so long does the answer take to be used.
RESERVE = """
CREATE FUNCTION reserve_turns(
    of_domain text, tickets text[], gap float8, concurrent integer, horizon float8, lease float8,
    ahead float8
) RETURNS TABLE (ticket text, wait float8, sure boolean, told float8) LANGUAGE plpgsql AS $$
DECLARE
    state rate_limits;
    moment float8;
    turn float8;
    last float8;
    before integer;
BEGIN
    INSERT INTO rate_limits (domain) VALUES (of_domain) ON CONFLICT DO NOTHING;
    SELECT * INTO state FROM rate_limits WHERE domain = of_domain FOR UPDATE;
    moment := extract(epoch FROM clock_timestamp());
    last := extract(epoch FROM state.last_at);
    turn := extract(epoch FROM state.next_at);
    IF turn > moment + horizon + gap THEN
        -- No turn is ever given that far ahead: the clock was set back.
        last := moment - gap;
        turn := moment;
    END IF;
    turn := greatest(moment + ahead, turn, last + gap);
    SELECT coalesce(jsonb_object_agg(key, value), '{}'), count(*) INTO state.holders, before
        FROM jsonb_each(state.holders) WHERE (value->>'until')::float8 > moment;
    FOREACH ticket IN ARRAY tickets LOOP
        EXIT WHEN turn - moment > horizon;
        told := moment;
        wait := turn - moment;
        sure := before < concurrent;
        state.holders := state.holders
            || jsonb_build_object(ticket, jsonb_build_object('at', turn, 'until', turn + lease));
        last := turn;
        turn := turn + gap;
        before := before + 1;
        RETURN NEXT;
    END LOOP;
    UPDATE rate_limits SET last_at = to_timestamp(last), next_at = to_timestamp(turn), holders = state.holders
        WHERE domain = of_domain;
END $$;
"""


def upgrade() -> None:
    # The one without `ahead` stays, for jobs that still run on an older version.
    op.execute(RESERVE)


def downgrade() -> None:
    op.execute("DROP FUNCTION reserve_turns(text, text[], float8, integer, float8, float8, float8)")
