"""Tables about users: people, tokens, login sessions, the audit log, watch rules and the outbox of messages.

`services.notifications` sends the messages.
"""
