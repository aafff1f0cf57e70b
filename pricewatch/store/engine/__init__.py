"""The database itself: connections, the embedded server, schema and deadlines.

No query about listings, targets or any other subject lives here.
"""
