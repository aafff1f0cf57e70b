"""The database itself: connections, query deadlines, the embedded server and the schema.

Queries about listings, targets and other data are in the other packages of `store`.
"""
