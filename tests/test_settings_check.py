"""Settings that cannot be used: one sentence each, and no password in it."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.settings import Settings

from pricewatch.errors import UserError
from pricewatch.settings_check import check_settings


def given(**changes: Any) -> Settings:
    settings = Settings()
    settings.setmodule("pricewatch.settings")
    settings.setdict(changes, priority="cmdline")
    return settings


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("DOWNLOAD_TIMEOUT", "soon", "DOWNLOAD_TIMEOUT is 'soon'; it should be a number, at least 0."),
        ("ROBOTS_CACHE_HOURS", "", "ROBOTS_CACHE_HOURS is ''; it should be a number"),
        ("MIN_DELAY_MS", "-1", "MIN_DELAY_MS is '-1'; it should be a number, at least 0."),
        ("RETRY_AFTER_MAX", "nan", "RETRY_AFTER_MAX is 'nan'; it should be a number"),
        ("REQUESTS_PER_SECOND", "0", "REQUESTS_PER_SECOND is 0; for no request at all"),
        (
            "PROXIES_DATACENTER",
            "socks5://me:secret@a:1",
            "PROXIES_DATACENTER should be proxies such as http:",
        ),
        ("PROXIES_RESIDENTIAL", "http://me:secret@a:99999", "PROXIES_RESIDENTIAL should be proxies such as"),
        ("ALLOWED_PRIVATE_HOSTS", "shop:port", "ALLOWED_PRIVATE_HOSTS should be hosts or networks"),
        ("HOSTS", "shop=10.0.0.1", "HOSTS addresses by name"),
        ("HOSTS", '["10.0.0.1"]', "HOSTS addresses by name"),
        ("REDIS_URL", "http://me:secret@host", "REDIS_URL should look like redis://host:6379/0."),
    ],
)
def test_what_cannot_be_used(name: str, value: str, sentence: str) -> None:
    with pytest.raises(UserError) as told:
        check_settings(given(**{name: value}))
    assert sentence in str(told.value)
    assert "secret" not in str(told.value)


def test_what_can_be_used() -> None:
    check_settings(given())
    check_settings(
        given(
            REQUESTS_PER_SECOND="0.1",
            PROXIES_DATACENTER="http://me:secret@a:8080, b:3128",
            ALLOWED_PRIVATE_HOSTS="10.1.0.0/16,shop.internal:8080",
            HOSTS='{"shop.internal": "10.1.2.3"}',
            REDIS_URL="redis://127.0.0.1:6379/0",
        )
    )
