"""Which environment variables the processes that pricewatch starts get."""

from __future__ import annotations

import re

import pytest

from pricewatch.rules.access.child_environment import (
    DAEMON_SECRETS,
    PREVIEW,
    browser_environment,
    matches,
    preview_environment,
    spider_variables,
)
from tests.source_files import FILES

READ = re.compile(r'environ(?:ment)?(?:\.get\(|\.pop\(|\[)"([A-Z_]+)"')
# Neither secret nor needed for a preview; the last two are WSGI's, not of the process.
NOT_NEEDED = {
    "DISPATCH_SPREAD_SECONDS", "PRICEWATCH_TRUSTED_PROXIES", "PRICEWATCH_URL", "SCRAPYD_BIND_ADDRESS",
    "SCRAPYD_HTTP_PORT", "PATH_INFO", "QUERY_STRING",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "browser", "preview", "spider"),
    [
        ("PATH", True, True, True),
        ("HOME", True, True, True),
        ("LC_TIME", True, True, True),
        ("TZ", True, True, True),
        ("XDG_CACHE_HOME", True, True, True),
        ("FONTCONFIG_FILE", True, True, True),
        ("CHROME_DEVEL_SANDBOX", True, True, True),
        ("DATABASE_URL", False, True, True),
        ("PGPASSFILE", False, True, True),
        ("REDIS_URL", False, True, True),
        ("PROXIES_RESIDENTIAL", False, True, True),
        ("HTTPS_PROXY", False, True, True),
        ("ALLOWED_PRIVATE_HOSTS", False, True, True),
        ("PRICEWATCH_VAR", False, True, True),
        ("SHOP_TOKEN", False, False, True),
        ("AWS_SECRET_ACCESS_KEY", False, False, True),
        ("PRICEWATCH_PASSWORD", False, False, False),
        ("SCRAPYD_PASSWORD", False, False, False),
        ("PRICEWATCH_SECRET", False, False, False),
        ("PRICEWATCH_EGG_KEY", False, False, False),
        ("PRICEWATCH_NOTIFY", False, False, False),
        ("PRICEWATCH_NOTIFY_OPS", False, False, False),
    ],
)
def test_each_process_gets_what_it_needs(name: str, browser: bool, preview: bool, spider: bool) -> None:
    environment = {name: "value"}
    assert browser_environment(environment) == (environment if browser else {})
    assert preview_environment(environment) == (environment if preview else {})
    assert spider_variables(environment) == (environment if spider else {})


def test_no_secret_of_the_daemon_is_listed_for_a_preview() -> None:
    assert not [pattern for pattern in DAEMON_SECRETS if matches(pattern.rstrip("*"), PREVIEW)]


def test_every_variable_that_pricewatch_reads_is_needed_secret_or_neither() -> None:
    read = {name for path in FILES for name in READ.findall(path.read_text())}
    assert {"DATABASE_URL", "PRICEWATCH_PASSWORD", "PRICEWATCH_VAR"} <= read
    assert {name for name in read if not matches(name, PREVIEW + DAEMON_SECRETS)} <= NOT_NEEDED
