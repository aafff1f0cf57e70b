"""Turns: who may ask a domain when, decided in one step by the database's own clock"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# Hands out one turn per ticket, `gap` seconds apart, none further away than the horizon. A turn is sure where
# fewer than `concurrent` others could still be under way when it comes.
RESERVE = """
CREATE FUNCTION reserve_turns(
    of_domain text, tickets text[], gap float8, concurrent integer, horizon float8, lease float8
) RETURNS TABLE (ticket text, wait float8, sure boolean) LANGUAGE plpgsql AS $$
DECLARE
    state rate_limits;
    moment float8;
    turn float8;
    last float8;
    ahead integer;
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
    turn := greatest(moment, turn, last + gap);
    SELECT coalesce(jsonb_object_agg(key, value), '{}'), count(*) INTO state.holders, ahead
        FROM jsonb_each(state.holders) WHERE (value->>'until')::float8 > moment;
    FOREACH ticket IN ARRAY tickets LOOP
        EXIT WHEN turn - moment > horizon;
        wait := turn - moment;
        sure := ahead < concurrent;
        state.holders := state.holders
            || jsonb_build_object(ticket, jsonb_build_object('at', turn, 'until', turn + lease));
        last := turn;
        turn := turn + gap;
        ahead := ahead + 1;
        RETURN NEXT;
    END LOOP;
    UPDATE rate_limits SET last_at = to_timestamp(last), next_at = to_timestamp(turn), holders = state.holders
        WHERE domain = of_domain;
END $$;
"""

# A turn that was not sure has come: it stands if those before it leave a slot, else it is given up.
CONFIRM = """
CREATE FUNCTION confirm_turn(of_domain text, ticket text, concurrent integer, lease float8)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    held jsonb;
    moment float8;
    mine float8;
    ahead integer;
    stands boolean;
BEGIN
    SELECT holders INTO held FROM rate_limits WHERE domain = of_domain FOR UPDATE;
    moment := extract(epoch FROM clock_timestamp());
    mine := (held->ticket->>'at')::float8;
    SELECT count(*) INTO ahead FROM jsonb_each(held)
        WHERE (value->>'until')::float8 > moment AND ((value->>'at')::float8, key) < (mine, ticket);
    stands := mine IS NOT NULL AND ahead < concurrent;
    UPDATE rate_limits SET holders = CASE WHEN stands
        THEN jsonb_set(held, ARRAY[ticket, 'until'], to_jsonb(moment + lease)) ELSE held - ticket END
        WHERE domain = of_domain;
    RETURN stands;
END $$;
"""


def upgrade() -> None:
    op.execute(RESERVE)
    op.execute(CONFIRM)


def downgrade() -> None:
    op.execute("DROP FUNCTION confirm_turn, reserve_turns")
