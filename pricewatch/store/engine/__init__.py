"""The database itself: connections, the embedded server, schema and deadlines. No query about our subjects."""
