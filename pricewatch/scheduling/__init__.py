"""What makes scrapyd run pricewatch: queue, job storage, poller, launcher and eggs on PostgreSQL, dispatcher.

Decisions are in `rules.market_schedule`, SQL is in `store`. Nothing here may block the reactor for long:
database calls run on a thread. `runner` is started by path and imports nothing of ours.
"""
