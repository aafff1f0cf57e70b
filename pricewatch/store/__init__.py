"""Everything that touches PostgreSQL: the embedded server, the schema, migrations and all SQL.

Decisions are in `rules`. Apart from the rate limiter and the audit of a simulation, no other package has SQL.
"""
