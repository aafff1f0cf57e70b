"""What makes scrapyd run it: queue, job storage, poller, launcher and eggs on PostgreSQL, and the dispatcher.

Decisions are in `rules.market_schedule`, statements in `store`. Nothing here may block the reactor for long: what
asks the database does so on a thread. `runner` is started by path and imports nothing of ours.
"""
