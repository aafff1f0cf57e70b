"""scrapyd's console: pages escape everything, files are plain text, jobs are cancelled with a token."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from parsel import Selector
from playwright.sync_api import expect, sync_playwright

from tests.conftest import chromium_path
from tests.hostile.calls import check_page
from tests.scheduling.conftest import ADA
from tests.scheduling.daemons import Daemon
from tests.waiting import until

EVIL = "<img src=x onerror=alert(1)>\"'&"
BROWSER = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def client(locked_daemon: Daemon) -> Iterator[httpx.Client]:
    """A person in a browser."""
    with httpx.Client(base_url=locked_daemon.url, headers=BROWSER, timeout=60) as client:
        form = {"username": ADA[0], "password": ADA[1]}
        assert client.post("/login", data=form).status_code == 303
        yield client


def schedule(daemon: Daemon, spider: str, **fields: str) -> str:
    """Schedule a job as a program does."""
    data = {"project": "test", "spider": spider, **fields}
    answer = httpx.post(f"{daemon.url}/schedule.json", data=data, auth=ADA, timeout=60).json()
    assert answer["status"] == "ok", answer
    return str(answer["jobid"])


def state(daemon: Daemon, job: str) -> str | None:
    answer = httpx.get(f"{daemon.url}/status.json?job={job}", auth=ADA, timeout=60)
    found: dict[str, str | None] = answer.json()
    return found["state"] if found["currstate"] == "finished" else found["currstate"]


@pytest.mark.parametrize("path", ["/jobs", "/scrapyd/jobs"])
def test_the_list_of_jobs_escapes_everything(daemon: Daemon, path: str) -> None:
    """Running, finished and pending jobs, and the links to their logs."""
    name = EVIL + path[1:].replace("/", "-")
    evil = {place: name + place for place in ("running", "finished", "pending")}
    daemon.schedule("quick", jobid=evil["finished"])
    until(lambda: daemon.states().get(evil["finished"]) == "finished")
    daemon.schedule("slow", jobid=evil["running"], seconds=60, n=path)
    until(lambda: daemon.states()[evil["running"]] == "running")
    # A job with the same arguments waits for the other to end.
    daemon.schedule("slow", jobid=evil["pending"], seconds=60, n=path)
    page = httpx.get(daemon.url + path, headers={"X-Forwarded-Prefix": '"><x-enemy>'}).content
    check_page(page, path)
    assert b"<img" not in page
    shown = Selector(body=page).css("td::text").getall()
    assert set(evil.values()) <= set(shown)
    for link in Selector(body=page).css("td a::attr(href)").getall():
        assert httpx.get(daemon.url + link).headers["content-type"] == "text/plain; charset=utf-8"
    for place in ("pending", "running"):
        daemon.post("cancel.json", project="test", job=evil[place])
    until(lambda: daemon.states()[evil["running"]] == "cancelled")


def test_a_prefix_of_a_proxy_must_be_a_path(daemon: Daemon) -> None:
    def links(prefix: str) -> list[str]:
        page = httpx.get(f"{daemon.url}/scrapyd/", headers={"X-Forwarded-Prefix": prefix}).text
        return [link for link in Selector(page).css("a::attr(href)").getall() if link.endswith("/jobs")]

    assert links("/prices/") == ["/prices/jobs"]
    for prefix in ("", "//evil.example", "javascript:alert(1)", "https://evil.example"):
        assert links(prefix) == ["/jobs"], prefix


def test_logs_are_plain_text_and_items_are_downloads(locked_daemon: Daemon) -> None:
    """Whatever their names and contents: both contain text of crawled pages."""
    var = locked_daemon.directory / "var"
    for folder, names in {
        "scrapyd/logs": ("a.html", "b.log", "c.svg.gz", "index.html"),
        "items": ("d.html",),
    }.items():
        (var / folder / "test" / EVIL).mkdir(parents=True)
        for name in names:
            (var / folder / "test" / EVIL / name).write_text("<script>alert(1)</script>")
    with httpx.Client(base_url=locked_daemon.url, auth=ADA, timeout=60) as client:
        listing = client.get(f"/logs/test/{EVIL}/")
        check_page(listing.content, "listing")
        links = Selector(listing.text).css("td a::attr(href)").getall()
        assert links == ["./a.html", "./b.log", "./c.svg.gz", "./index.html"]
        for path in (*(f"/logs/test/{EVIL}/{link}" for link in links), f"/items/test/{EVIL}/d.html"):
            answer = client.get(path)
            assert answer.headers["content-type"] == "text/plain; charset=utf-8"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "content-encoding" not in answer.headers
            assert ("content-disposition" in answer.headers) == path.startswith("/items/")
        part = client.get(f"/logs/test/{EVIL}/b.log", headers={"Range": "bytes=1-6"})
        assert (part.status_code, part.text) == (206, "script")
        for many in ("bytes=0-,0-,0-", "bytes=\xff", "lines=1-"):
            headers = {b"Range": many.encode("latin-1")}
            assert client.get(f"/logs/test/{EVIL}/b.log", headers=headers).status_code == 200
        for missing in ("/logs/%2e%2e/eggs", "/logs/test/..%2f..%2fdbs/", "/logs/%00"):
            assert client.get(missing).status_code == 404, missing


def test_a_browser_cancels_a_job_only_with_the_token_of_its_page(
    locked_daemon: Daemon, client: httpx.Client
) -> None:
    job = schedule(locked_daemon, "slow", seconds="60", n="token")
    until(lambda: state(locked_daemon, job) == "running")
    form = {"project": "test", "job": job}
    assert client.post("/cancel.json", data=form).status_code == 403
    assert client.post("/cancel.json", data={**form, "token": "0" * 64}).status_code == 403
    found = re.search(r'name="token" value="(\w+)"', client.get("/jobs").text)
    assert found
    form["token"] = found[1]
    for other in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        assert client.post("/cancel.json", data=form, headers=other).status_code == 403
    with httpx.Client(base_url=locked_daemon.url, headers=BROWSER, auth=ADA, timeout=60) as another:
        assert another.post("/cancel.json", data=form).status_code == 403
    assert state(locked_daemon, job) == "running"
    assert client.post("/cancel.json", data=form).json()["prevstate"] == "running"
    until(lambda: state(locked_daemon, job) == "cancelled")


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.proof
def test_a_person_cancels_a_job_in_a_browser(locked_daemon: Daemon) -> None:
    job = schedule(locked_daemon, "slow", seconds="60", n="browser")
    until(lambda: state(locked_daemon, job) == "running")
    problems: list[str] = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(), timeout=60_000)
        page = chromium.new_page(base_url=locked_daemon.url)
        page.on("console", lambda message: problems.append(message.text))
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto("/jobs")
        page.get_by_label("Name").fill(ADA[0])
        page.get_by_label("Password").fill(ADA[1])
        page.get_by_role("button", name="Log in").click()
        row = page.locator("#jobs tr", has_text=job)
        expect(row).to_have_count(1)
        row.get_by_role("button", name="Cancel").click()
        expect(page.locator("body")).to_contain_text('"prevstate": "running"')
        page.goto("/logs/")
        expect(page.get_by_role("heading")).to_be_visible()
        chromium.close()
    until(lambda: state(locked_daemon, job) == "cancelled")
    assert problems == []
