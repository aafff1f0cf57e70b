"""Scrapy settings. What people tune is at the top; each can be given as `-s NAME=VALUE`."""

from importlib.util import find_spec

BOT_NAME = "pricewatch"
SPIDER_MODULES = ["pricewatch.spiders"]
NEWSPIDER_MODULE = "pricewatch.spiders"
COMMANDS_MODULE = "pricewatch.commands"

# Discovery and sweep
STOP_AFTER_FAMILIAR_PAGES = 5
OVERVIEW_ATTEMPTS = 3
SWEEP_PAGES_PER_RUN = 50
SWEEP_OVERLAP_PAGES = 5
SWEEP_LEAST_COVERAGE = 0.7
SWEEP_TIME_BUDGET_MINUTES = 30
SWEEP_MAX_DETAILS = 100
DETAIL_REFRESH_HOURS = 24
DETAIL_RETRY_MINUTES = 60

# Verification
VERIFICATION_UNSEEN_HOURS = 24
VERIFICATION_MAX_LISTINGS = 200

# Writing: one transaction per page of cards, or this many rows, or this many milliseconds
WRITE_BATCH_ROWS = 500
WRITE_BATCH_WAIT_MS = 200
WRITE_QUEUE_UNITS = 64
DATABASE_RETRY_SECONDS = 120
RUN_HEARTBEAT_SECONDS = 10

# Fetching
USER_AGENT = "pricewatch (+https://github.com/pricewatch)"
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "pricewatch"
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 8
DOWNLOAD_DELAY = 0
COOKIES_ENABLED = False
RETRY_TIMES = 2
RETRY_HTTP_CODES = [429, 500, 502, 503, 504]

ITEM_PIPELINES = {
    "pricewatch.pipelines.validate.ValidatePipeline": 100,
    "pricewatch.pipelines.upsert.UpsertPipeline": 200,
    "pricewatch.pipelines.price_history.PriceHistoryPipeline": 300,
    "pricewatch.pipelines.drift.DriftPipeline": 400,
}
EXTENSIONS = {
    "pricewatch.extensions.sample_marketplace.SampleMarketplaceExtension": 0,
    "pricewatch.extensions.run.RunExtension": 5,
    "pricewatch.extensions.progress.ProgressExtension": 10,
    # Both would open a port that runs code.
    "scrapy.extensions.telnet.TelnetConsole": None,
    "scrapy.extensions.remote_control.RemoteControl": None,
}
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False

LOG_LEVEL = "INFO"
LOG_SHORT_NAMES = False
# One line per item and per page is work that nobody reads; the run's own rows say it all.
LOG_FORMATTER = "pricewatch.extensions.log_formatter.QuietLogFormatter"
STATS_DUMP = False
FEED_EXPORT_ENCODING = "utf-8"
if find_spec("uvloop"):
    ASYNCIO_EVENT_LOOP = "uvloop.Loop"
