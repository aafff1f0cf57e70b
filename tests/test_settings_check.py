"""Invalid settings: one sentence each, without passwords."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.settings import Settings

from pricewatch.errors import UserError
from pricewatch.settings_check import check_settings


def settings_with(**changes: Any) -> Settings:
    settings = Settings()
    settings.setmodule("pricewatch.settings")
    settings.setdict(changes, priority="cmdline")
    return settings


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("DOWNLOAD_TIMEOUT", "soon", "DOWNLOAD_TIMEOUT is 'soon'; it must be a number of at least 0."),
        ("ROBOTS_CACHE_HOURS", "", "ROBOTS_CACHE_HOURS is ''; it must be a number"),
        ("MIN_DELAY_MS", "-1", "MIN_DELAY_MS is '-1'; it must be a number of at least 0."),
        ("RETRY_AFTER_MAX", "nan", "RETRY_AFTER_MAX is 'nan'; it must be a number"),
        ("REQUESTS_PER_SECOND", "0", "REQUESTS_PER_SECOND is 0; to stop all requests"),
        ("READ_DEADLINE_SECONDS", "0", "READ_DEADLINE_SECONDS is 0; it must be at least 0.1."),
        ("READER_MEMORY_MB", "64", "READER_MEMORY_MB is 64; it must be at least 150."),
        ("READER_PROCESSES", "0", "READER_PROCESSES is 0; it must be at least 1."),
        (
            "PROXIES_DATACENTER",
            "socks5://me:secret@a:1",
            "PROXIES_DATACENTER must be a list of proxies such as http:",
        ),
        (
            "PROXIES_RESIDENTIAL",
            "http://me:secret@a:99999",
            "PROXIES_RESIDENTIAL must be a list of proxies such as",
        ),
        ("ALLOWED_PRIVATE_HOSTS", "shop:port", "ALLOWED_PRIVATE_HOSTS must be hosts or networks"),
        ("HOSTS", "shop=10.0.0.1", "HOSTS must be addresses by name"),
        ("HOSTS", '["10.0.0.1"]', "HOSTS must be addresses by name"),
        ("BROWSER_WITHOUT_SANDBOX", "1", "BROWSER_WITHOUT_SANDBOX is '1'; it must be yes or no."),
        ("PROXIES_RESOLVE_UNKNOWN_NAMES", "", "PROXIES_RESOLVE_UNKNOWN_NAMES is ''; it must be yes or no."),
        ("REDIS_URL", "http://me:secret@host", "REDIS_URL must be a URL such as redis://host:6379/0."),
    ],
)
def test_invalid_settings_are_refused(name: str, value: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        check_settings(settings_with(**{name: value}))
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)


def test_valid_settings_are_accepted() -> None:
    check_settings(settings_with())
    check_settings(
        settings_with(
            REQUESTS_PER_SECOND="0.1",
            PROXIES_DATACENTER="http://me:secret@a:8080, b:3128",
            ALLOWED_PRIVATE_HOSTS="10.1.0.0/16,shop.internal:8080",
            HOSTS='{"shop.internal": "10.1.2.3"}',
            REDIS_URL="redis://127.0.0.1:6379/0",
            BROWSER_WITHOUT_SANDBOX="yes",
            PROXIES_RESOLVE_UNKNOWN_NAMES=True,
        )
    )
