"""Scrapy settings. Those that users change are at the top; `-s NAME=VALUE` overrides any of them."""

import os
from importlib.util import find_spec

BOT_NAME = "pricewatch"
SPIDER_MODULES = ["pricewatch.spiders"]
NEWSPIDER_MODULE = "pricewatch.spiders"
COMMANDS_MODULE = "pricewatch.commands"
# The add-on merges the components below with those in the `custom_settings` of a spider.
ADDONS = {"pricewatch.addon.Pricewatch": 500}

# Discovery and sweep
STOP_AFTER_FAMILIAR_PAGES = 5
OVERVIEW_ATTEMPTS = 3
OVERVIEW_MOST_PAGES = 2000  # per start page; a limit for sites whose pages never end
SWEEP_PAGES_PER_RUN = 50
SWEEP_OVERLAP_PAGES = 5
SWEEP_LEAST_COVERAGE = 0.7
SWEEP_AGREEMENT = 0.1  # two partial cycles in a row that differ by at most this share are accepted
SWEEP_PRICE_SHARE_DROP = 0.3  # a cycle is partial if the share of cards with a price falls by more than this
SWEEP_TIME_BUDGET_MINUTES = 30
SWEEP_MAX_DETAILS = 100
DETAIL_REFRESH_HOURS = 24
DETAIL_RETRY_MINUTES = 60

# Reading: a page that exceeds one of these limits fails with READ_TIMEOUT
READ_DEADLINE_SECONDS = 2  # processor time; five times as long on the clock
READ_PROCESS_BYTES = 1_000_000  # larger pages are read in a separate process, as are pages with selectors
READER_PROCESSES = 2  # per crawl, and in the daemon
READER_MEMORY_MB = 1024  # of each process

# Validation: a price that changes by more than this factor is quarantined until another run confirms it
PRICE_JUMP_FACTOR = 4
PRICE_JUMP_AGREEMENT = 0.05

# Alert: the share of a market's recently seen listings whose price is older than these hours is too large
STALE_PRICE_HOURS = 48
STALE_PRICE_SHARE = 0.3

# Targets
TARGETS_MOST_PENDING = 10_000
TARGETS_MOST_PENDING_PER_SOURCE = 1_000
TARGETS_LONGEST_BACKLOG_HOURS = 4  # per source, at its rate limit
TARGETS_RETRY_AFTER_SECONDS = 60
TARGETS_LONGEST_PAUSE_MINUTES = 60
TARGETS_LEASE_SECONDS = 300
TARGETS_LEASE_CHUNK = 50
TARGETS_PER_RUN = 1000
TARGETS_TIME_BUDGET_MINUTES = 30
TARGETS_FAILURES_TO_BE_BROKEN = 5

# Dispatching: each minute, the daemon adds jobs for everything that is due
# Jobs start after a random delay of up to this.
DISPATCH_SPREAD_SECONDS = float(os.environ.get("DISPATCH_SPREAD_SECONDS", "60"))
DISPATCH_MOST_PENDING = 1000  # no more jobs are added while this many wait
DISPATCH_MOST_TARGET_JOBS = 4
MAINTENANCE_AT = "03:00"  # UTC
KEEP_RUN_DETAILS_DAYS = 30
KEEP_JOBS_DAYS = 90
KEEP_HELD_PAGES_DAYS = 30  # pages of pending offers; those of reviewed offers are removed within days
KEEP_VERSIONS = 20

# Verification
VERIFICATION_UNSEEN_HOURS = 24
VERIFICATION_MAX_LISTINGS = 200

# Writing: one transaction per page of cards, or this many rows, or this many milliseconds
WRITE_BATCH_ROWS = 500
WRITE_BATCH_WAIT_MS = 500
WRITE_QUEUE_UNITS = 200
DATABASE_RETRY_SECONDS = 120
RUN_HEARTBEAT_SECONDS = 10
RESOLVE_EVERY_PAGES = 200  # link listings to products after this many product pages; 0: only at the end

# Fetching: user agent and headers
USER_AGENT = "pricewatch (+https://github.com/pricewatch)"
HONEST_USER_AGENT = False
USER_AGENTS_ENABLED = True
USER_AGENT_SEED = ""
ACCEPT_LANGUAGE = "en-US,en;q=0.9"
COOKIES_ENABLED = False
REFERER_ENABLED = False  # consistent with the header Sec-Fetch-Site: none

# Fetching: rate limits per registrable domain, for all processes and machines; sources may override them
RATE_LIMIT_ENABLED = True
REQUESTS_PER_SECOND = 0.5
MIN_DELAY_MS = 2000
MAX_CONCURRENT = 1
RATE_LIMIT_UNLIMITED = 1000  # rates of at least this are not limited
RATE_LIMIT_MAX_WAIT = 900
RATE_LIMIT_MARGIN = 0.05  # requests are planned this much further apart, because some are sent late
RATE_LIMIT_BROWSER_MARGIN = 0.3  # the same for a browser, which sends its requests later
RATE_LIMIT_LEASE_SECONDS = 15
REDIS_URL = os.environ.get("REDIS_URL", "")
CONCURRENT_REQUESTS = 16
CONCURRENT_REQUESTS_PER_DOMAIN = 16
DOWNLOAD_DELAY = 0

# Fetching: permissions
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "pricewatch"
ROBOTS_CACHE_HOURS = 24
ROBOTS_RETRY_SECONDS = 600
GUARD_ENABLED = True
# Private hosts, networks or host:port that may be fetched, comma-separated: `shop.internal:8080,10.1.0.0/16`
ALLOWED_PRIVATE_HOSTS = os.environ.get("ALLOWED_PRIVATE_HOSTS", "")
HOSTS: dict[str, str] = {}
BLOCKED_PAGES_ENABLED = True

# Fetching: limits, redirects and retries
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
REDIRECT_MAX_TIMES = 5
RETRY_TIMES = 2
RETRY_HTTP_CODES = [429, 500, 502, 503, 504]
RETRY_FIRST_DELAY = 1.0
RETRY_LONGEST_DELAY = 30.0
RETRY_JITTER = 0.25
RETRY_AFTER_MAX = 120
RETRY_GIVE_UP_LOG_LEVEL = "INFO"

# Fetching: proxies; set credentials in the environment
PROXIES_ENABLED = True
PROXIES_DATACENTER = os.environ.get("PROXIES_DATACENTER", "")
PROXIES_RESIDENTIAL = os.environ.get("PROXIES_RESIDENTIAL", "")
PROXIES_MAX_WAIT = 0
# Whether proxies may resolve names that this machine cannot resolve, and so cannot check: yes or no
PROXIES_RESOLVE_UNKNOWN_NAMES = os.environ.get("PROXIES_RESOLVE_UNKNOWN_NAMES", "no")

# Fetching: pages that need JavaScript
CHROMIUM_PATH = os.environ.get("CHROMIUM_PATH", "")
# Whether Chromium may run without its sandbox, which it has to as root: yes or no
BROWSER_WITHOUT_SANDBOX = os.environ.get("BROWSER_WITHOUT_SANDBOX", "no")
BROWSER_MAX_PAGES = 4
BROWSER_PAGE_SECONDS = 60
BROWSER_SETTLE_SECONDS = 5
BROWSER_RESTART_PAGES = 100
BROWSER_RESTART_MEGABYTES = 2000
BROWSER_BLOCKED_RESOURCES = ["image", "media", "font"]
BROWSER_LIMITED_RESOURCES = ["document", "script", "stylesheet", "xhr", "fetch", "other"]

DOWNLOADER = "pricewatch.fetching.downloader.DomainDownloader"
SCHEDULER_PRIORITY_QUEUE = "pricewatch.fetching.domain_queue.DomainQueue"
TWISTED_DNS_RESOLVER = "pricewatch.fetching.name_resolution.GuardedResolver"
DOWNLOAD_HANDLERS = {
    "http": "pricewatch.fetching.download_handler.DownloadHandler",
    "https": "pricewatch.fetching.download_handler.DownloadHandler",
    # Only HTTP and HTTPS are fetched.
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
}
DOWNLOADER_MIDDLEWARES = {
    "pricewatch.middlewares.custom_spider_pages.CustomSpiderPagesMiddleware": 20,
    "pricewatch.middlewares.guard.GuardMiddleware": 40,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "pricewatch.middlewares.robots.RobotsMiddleware": 100,
    "pricewatch.middlewares.user_agents.UserAgentsMiddleware": 390,
    "pricewatch.middlewares.blocked_pages.BlockedPageMiddleware": 540,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "pricewatch.middlewares.retry.BackoffRetryMiddleware": 550,
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
    "pricewatch.middlewares.redirects.OnSiteMetaRefreshMiddleware": 580,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "pricewatch.middlewares.compression.BoundedCompressionMiddleware": 590,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "pricewatch.middlewares.redirects.OnSiteRedirectMiddleware": 600,
    "pricewatch.middlewares.proxy_wait.ProxyWaitMiddleware": 740,
    # Every request waits here for the rate limit; later middlewares must not delay it.
    "pricewatch.middlewares.rate_limit.RateLimitMiddleware": 950,
    "pricewatch.middlewares.proxies.ProxiesMiddleware": 960,
}

# Pipelines of every spider; the built-in spiders add those that only they need.
ITEM_PIPELINES = {
    "pricewatch.pipelines.validate.ValidatePipeline": 100,
    "pricewatch.pipelines.upsert.UpsertPipeline": 200,
    "pricewatch.pipelines.price_history.PriceHistoryPipeline": 300,
    "pricewatch.pipelines.details.DetailsPipeline": 340,
    "pricewatch.pipelines.products.ProductsPipeline": 350,
    "pricewatch.pipelines.drift.DriftPipeline": 400,
    "pricewatch.pipelines.source_memory.SourceMemoryPipeline": 410,
    "pricewatch.pipelines.feed.FeedPipeline": 800,
    "pricewatch.pipelines.commit.CommitPipeline": 900,
}
EXTENSIONS = {
    "pricewatch.extensions.sample_marketplace.SampleMarketplaceExtension": 0,
    "pricewatch.extensions.run.RunExtension": 5,
    "pricewatch.extensions.metrics.MetricsExtension": 6,
    "pricewatch.extensions.progress.ProgressExtension": 10,
    "pricewatch.extensions.start_items.StartItemsExtension": 50,
    "pricewatch.extensions.gc_freeze.GcFreezeExtension": 100,
    "scrapy.extensions.feedexport.FeedExporter": None,
    "pricewatch.extensions.feeds.ListingFeedExporter": 110,
}
# Both would open a port that can run code.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False

LOG_LEVEL = "INFO"
LOG_SHORT_NAMES = False
# A line per item and page would slow the crawl down; the rows of the run contain the same information.
LOG_FORMATTER = "pricewatch.extensions.log_formatter.QuietLogFormatter"
STATS_DUMP = False
DOWNLOADER_STATS = False  # counting bytes would serialize every request twice
FEED_EXPORT_ENCODING = "utf-8"
if find_spec("uvloop"):
    ASYNCIO_EVENT_LOOP = "uvloop.Loop"
