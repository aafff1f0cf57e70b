"""What belongs to people: sessions, audit log, watch rules and the outbox of messages to them.

Sending messages is not done here: see `services.notifications`.
"""
