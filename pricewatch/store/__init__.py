"""Everything that touches PostgreSQL: the embedded server, the schema, migrations and all SQL.

No other package contains SQL. Decisions are in `rules`, not here.
"""
