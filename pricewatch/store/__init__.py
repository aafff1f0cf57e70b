"""Everything that touches PostgreSQL: the embedded server, schema, migrations, and all SQL.

Nothing here decides anything: decisions are in `rules`. Nobody else writes SQL.
"""
