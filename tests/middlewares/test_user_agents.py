"""User agents and headers, as in the request log of the marketplace."""

from __future__ import annotations

import re

from pricewatch.bazaar.client import LogEntry
from pricewatch.middlewares.user_agents import browser_headers
from tests.fetching.conftest import PageRequest, Site


def agents(log: list[LogEntry], domain: str) -> set[str | None]:
    return {entry.user_agent for entry in log if domain in entry.host}


def test_each_run_uses_one_browser_per_domain(site: Site) -> None:
    domains = [f"shop{n}-test.com" for n in range(6)]
    for domain in domains:
        site.source(domain)
    pages = [
        site.url(path, f"{sub}.{domain}")
        for domain in domains
        for sub in ("www", "m")
        for path in ("/", "/help")
    ]
    report = site.fetch(*pages)
    assert all(len(agents(report.log, domain)) == 1 for domain in domains)
    first = {domain: agents(report.log, domain).pop() for domain in domains}
    assert len(set(first.values())) > 1
    site.bazaar.clear_log()
    again = site.fetch(*pages)
    assert {domain: agents(again.log, domain).pop() for domain in domains} != first


def test_seed_makes_the_browser_reproducible(site: Site) -> None:
    site.source()
    for _ in range(2):
        report = site.fetch(site.url("/"), USER_AGENT_SEED="7")
    assert len(agents(report.log, "bazaar-test.com")) == 1


def test_headers_match_the_user_agent() -> None:
    seen = set()
    for seed in range(300):
        headers = browser_headers(str(seed))
        agent = headers["user-agent"]
        seen.add(agent)
        assert agent.startswith("Mozilla/5.0 (")
        assert "WOW64" not in agent
        if "Firefox" in agent:
            assert not [name for name in headers if name.startswith("sec-ch-ua")]
            assert re.search(r"rv:(\d+\.0)\) Gecko/20100101 Firefox/\1$", agent)
            assert "avif" not in headers["accept"]
            continue
        version = re.search(r"Chrome/(\d+)\.0\.0\.0", agent)
        assert version
        assert f'"Chromium";v="{version[1]}"' in headers["sec-ch-ua"]
        brand = "Microsoft Edge" if "Edg/" in agent else "Google Chrome"
        assert f'"{brand}";v="{version[1]}"' in headers["sec-ch-ua"]
        platform = {"Windows": "Windows NT 10.0", "macOS": "Mac OS X 10_15_7", "Linux": "Linux x86_64"}
        assert platform[headers["sec-ch-ua-platform"].strip('"')] in agent
        assert headers["sec-ch-ua-mobile"] == "?0"
    assert len(seen) > 8


def test_requests_have_the_headers_of_the_browser(site: Site) -> None:
    site.source(headers='{"Accept-Language": "de-AT", "X-Shop": "yes"}')
    report = site.fetch(site.url("/help"), USER_AGENT_SEED="7")
    page = report.log[-1]
    expected = browser_headers("7/bazaar-test.com")
    assert {name: page.header(name) for name in expected} == expected
    # The headers of a source are added and take precedence.
    assert (page.header("accept-language"), page.header("x-shop")) == ("de-AT", "yes")
    assert page.header("accept-encoding") == "gzip, deflate, br, zstd"


def test_honest_user_agent_always_names_pricewatch(site: Site) -> None:
    site.source(headers='{"User-Agent": "somebody else"}')
    pages: list[PageRequest] = [
        site.url("/help"),
        {"url": site.url("/"), "headers": {"User-Agent": "a spider"}},
    ]
    report = site.fetch(*pages, HONEST_USER_AGENT=True, USER_AGENT="pricewatch (+https://us.example)")
    assert agents(report.log, "bazaar-test.com") == {"pricewatch (+https://us.example)"}
    assert all(entry.header("sec-ch-ua") is None for entry in report.log)
    assert report.stat("user_agents/honest") == 1


def test_middleware_can_be_disabled(site: Site) -> None:
    site.source()
    report = site.fetch(site.url("/help"), USER_AGENTS_ENABLED=False, USER_AGENT="plain")
    assert agents(report.log, "bazaar-test.com") == {"plain"}
