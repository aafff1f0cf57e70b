"""What belongs to people: sessions, audit log, watch rules and the outbox of messages to them."""
