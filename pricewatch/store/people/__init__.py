"""Tables about users: login sessions, the audit log, watch rules and the outbox of notifications.

`services.notifications` sends the messages.
"""
