"""scrapyd components: queue, job storage, poller, launcher and eggs on PostgreSQL; and the dispatcher.

Decisions are in `rules.market_schedule`, SQL is in `store`. Nothing here may block the reactor:
database calls run on a thread. `runner` is started by path and imports nothing from pricewatch.
"""
