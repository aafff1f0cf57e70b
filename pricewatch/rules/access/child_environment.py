"""Which environment variables the processes that we start get: what a process does not need may be a secret.

Browsers, reader processes and previews get only what is listed here. Spiders get everything but the secrets
of the daemon, because a custom spider may need variables of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

# What any program needs to run. A name that ends with * is a prefix.
ANY = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_*", "TZ", "TZDIR", "TMPDIR", "LD_LIBRARY_PATH",
)  # fmt: skip
READER = (*ANY, "VIRTUAL_ENV")
# What Chromium and playwright read besides.
BROWSER = (
    *ANY,
    "XDG_*", "FONTCONFIG_*", "CHROME_DEVEL_SANDBOX", "PLAYWRIGHT_BROWSERS_PATH", "PLAYWRIGHT_NODEJS_PATH",
    "PW_LANG_*", "PW_CLI_*",
)  # fmt: skip
PREVIEW = (
    *BROWSER,
    "PYTHON*", "VIRTUAL_ENV", "SCRAPY_*", "PRICEWATCH_VAR", "PRICEWATCH_SHOPS", "PRICEWATCH_NODE",
    "PRICEWATCH_CLOCK_OFFSET", "DATABASE_URL", "DATABASE_ANSWER_SECONDS", "PG*", "REDIS_URL",
    "ALLOWED_PRIVATE_HOSTS", "PROXIES_*", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy",
    "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "CHROMIUM_PATH", "BROWSER_WITHOUT_SANDBOX",
)  # fmt: skip
DAEMON_SECRETS = (
    "SCRAPYD_USERNAME", "SCRAPYD_PASSWORD", "PRICEWATCH_USER", "PRICEWATCH_PASSWORD", "PRICEWATCH_SECRET",
    "PRICEWATCH_EGG_KEY", "PRICEWATCH_NOTIFY*",
)  # fmt: skip


def browser_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for Chromium and the driver of playwright, which handle the pages of strangers."""
    return {name: value for name, value in environment.items() if matches(name, BROWSER)}


def reader_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for processes that read pages."""
    return {name: value for name, value in environment.items() if matches(name, READER)}


def preview_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are needed to fetch a page under the rules of a crawl."""
    return {name: value for name, value in environment.items() if matches(name, PREVIEW)}


def spider_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return all variables but the secrets of the daemon: its login, its keys, its notification addresses."""
    return {name: value for name, value in environment.items() if not matches(name, DAEMON_SECRETS)}


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern for pattern in patterns
    )
