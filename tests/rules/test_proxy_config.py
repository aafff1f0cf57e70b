"""How settings configure proxies, and their names."""

from __future__ import annotations

import pytest

from pricewatch.rules.proxy_config import parse_proxies


def test_proxies_have_names_without_credentials() -> None:
    proxies = parse_proxies("http://ann:pa%3Ass@gate.net:7777, gate.net:8888\n https://[2001:db8::1]")
    assert [(proxy.name, proxy.url) for proxy in proxies] == [
        ("gate.net:8888", "http://gate.net:8888"),
        ("gate.net:7777", "http://gate.net:7777"),
        ("[2001:db8::1]:443", "https://[2001:db8::1]:443"),
    ]
    assert [proxy.authorization for proxy in proxies] == [None, b"Basic YW5uOnBhOnNz", None]
    assert "ann" not in repr(proxies)
    assert "YW5u" not in repr(proxies)


def test_accounts_on_one_gateway_have_stable_names() -> None:
    configured = ["http://b:2@gate.net:1", "http://a:1@gate.net:1", "http://a:1@gate.net:1"]
    assert [proxy.name for proxy in parse_proxies(configured)] == ["gate.net:1", "gate.net:1#2"]
    assert parse_proxies(configured) == parse_proxies(reversed(configured))


@pytest.mark.parametrize("configured", ["", [], " , \n"])
def test_empty_setting_means_no_proxies(configured: str | list[str]) -> None:
    assert parse_proxies(configured) == []


@pytest.mark.parametrize(
    "configured", ["socks5://user:secret@gate.net:1", "http://", "http://user:secret@:80"]
)
def test_error_does_not_contain_the_password(configured: str) -> None:
    with pytest.raises(ValueError, match="Not a proxy") as caught:
        parse_proxies(configured)
    assert "secret" not in str(caught.value)
