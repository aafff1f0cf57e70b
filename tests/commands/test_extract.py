"""`scrapy extract`: product pages."""

from __future__ import annotations

import argparse
import gzip
import json

import pytest
from scrapy.settings import Settings

from pricewatch.commands.extract import Command
from tests.generic_reader.pages import buy, ld, page, product
from tests.reading.slow_adapters import scripted_adapter

URL = "https://shop.example/p/blue-kettle-1234"
GOOD = page(ld(product(sku="K1")) + buy("€19.99"))


@pytest.fixture
def run(capsys):
    def run(*args: str, **opts: object) -> tuple[int, str, str]:
        command = Command()
        command.settings = Settings({"READ_DEADLINE_SECONDS": 0.5})
        options = {
            "url": None,
            "manifest": None,
            "adapter": "generic",
            "overview": False,
            "json": False,
            "expected": False,
            "why": None,
        } | opts
        command.run(list(args), argparse.Namespace(**options))
        shown = capsys.readouterr()
        return command.exitcode, shown.out, shown.err

    return run


@pytest.fixture
def saved(tmp_path):
    def saved(name: str, html: str = GOOD) -> str:
        path = tmp_path / name
        path.write_bytes(gzip.compress(html.encode()) if name.endswith(".gz") else html.encode())
        return str(path)

    return saved


@pytest.mark.parametrize("name", ["a.html", "a.html.gz"])
def test_fields_and_evidence_are_shown(run, saved, name):
    code, out, err = run(saved(name), url=URL)
    assert (code, err) == (0, "")
    rows = [line.split(maxsplit=1) for line in out.splitlines() if line]
    assert ["status", "ok"] in rows
    assert ["price", "19.99"] in rows
    assert ["sku", "K1"] in rows
    amounts = [value for name, value in rows if name == "amount"]
    assert len(amounts) == 1
    assert amounts[0].startswith("19.99 EUR | ")
    assert "chosen" in amounts[0]
    assert "json-ld says so" in amounts[0]


SALE = page(
    ld(product("29.99"))
    + "<main><h1>Blue Kettle</h1><p class='price'><del>€29.99</del> <b>€19.99</b></p>"
    + "<p>Pay €4.50 a month</p><button>Add to cart</button></main>"
)


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("19.99", "19.99 EUR: score"),
        ("29,99", "no: it is the list price of a lower price"),
        ("4.5", "no: the page displays it as instalment"),
        ("7", "7 was not found on the page. Found: 19.99, 29.99, 4.50"),
    ],
)
def test_why_says_why_an_amount_was_chosen_or_not(run, saved, amount, expected):
    code, out, err = run(saved("a.html", SALE), url=URL, why=amount)
    assert (code, err) == (0, "")
    assert expected in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"why": "cheap"}, "--why expects an amount"),
        ({"why": "1", "overview": True, "adapter": "sgammo"}, "leave out --overview"),
    ],
)
def test_why_needs_an_amount_and_a_product_page(run, saved, options, message):
    code, out, err = run(saved("a.html"), url=URL, **options)
    assert (code, out) == (2, "")
    assert message in err


def test_why_is_answered_for_adapters_that_do_not_weigh_amounts(run, saved):
    code, out, _ = run(saved("a.html"), url="https://www.sgammo.com/product/1", adapter="sgammo", why="19.99")
    assert code == 0
    assert "does not weigh amounts" in out


def test_json_prints_one_object_per_line(run, saved):
    code, out, _ = run(
        saved("a.html"), saved("b.html", page(ld(product()) + buy("€29.99"))), url=None, json=True
    )
    assert code == 1
    assert out == ""
    _, out, _ = run(saved("a.html"), url=URL, json=True)
    (report,) = map(json.loads, out.splitlines())
    assert (report["status"], report["reason"], report["url"]) == ("ok", None, URL)
    offer = report["offer"]
    assert (offer["price"], offer["price_cents"], offer["currency"]) == ("19.99", 1999, "EUR")
    assert (offer["availability"], offer["identity_key"], offer["title"]) == (
        "IN_STOCK",
        "SKU:K1",
        "Blue Kettle",
    )
    assert report["evidence"]


@pytest.mark.parametrize(
    ("html", "status", "reason"),
    [
        (GOOD, "ok", None),
        (
            page(ld(product(offer={"availability": ""})) + "<h1>Blue Kettle</h1>"),
            "drop",
            "UNKNOWN_AVAILABILITY",
        ),
        (page(ld(product("29.99")) + buy("€19.99")), "quarantine", "AMBIGUOUS_PRICE"),
        (page(ld(product("0")) + buy("")), "quarantine", "ZERO_PRICE_EXTRACTED"),
        (page("<h1>Blue Kettle</h1><p>Nothing for sale</p>"), "failed", "PRICE_NOT_FOUND"),
        ("", "failed", "EMPTY_PAGE"),
    ],
)
def test_status_is_the_verdict_of_a_run(run, saved, html, status, reason):
    code, out, _ = run(saved("a.html", html), url=URL, json=True)
    report = json.loads(out)
    assert (code, report["status"], report["reason"]) == (0, status, reason)


def test_dropped_offer_is_shown(run, saved):
    _, out, _ = run(
        saved("a.html", page(ld(product(offer={"availability": ""})) + "<h1>Blue Kettle</h1>")),
        url=URL,
        json=True,
    )
    assert json.loads(out)["offer"]["price"] == "19.99"


def test_url_defaults_to_the_canonical_link(run, saved):
    _, out, _ = run(
        saved("a.html", page(ld(product()) + buy("€19.99"), f'<link rel="canonical" href="{URL}">')),
        json=True,
    )
    assert json.loads(out)["url"] == URL


def test_manifest_continues_after_a_bad_line(run, saved, tmp_path):
    saved("a.html")
    saved("b.html.gz")
    manifest = tmp_path / "pages.jsonl"
    lines = [
        {"file": "a.html", "url": URL},
        "not json",
        {"url": URL},
        {"file": "gone.html", "url": URL},
        {"file": "b.html.gz", "url": URL},
    ]
    manifest.write_text("\n\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    code, out, err = run(manifest=str(manifest), json=True)
    assert code == 1
    assert [json.loads(line)["file"] for line in out.splitlines()] == ["a.html", "b.html.gz"]
    messages = err.splitlines()
    assert len(messages) == 3
    assert "line 3: not JSON" in messages[0]
    assert 'line 5: no "file"' in messages[1]
    assert "gone.html cannot be read: no such file" in messages[2]


@pytest.mark.parametrize(
    ("args", "opts", "message"),
    [
        ([], {}, "Give saved pages"),
        (["a.html"], {"adapter": "nosuch"}, "Known: apartments, bazaar, generic"),
        (["a.html", "b.html"], {"url": URL}, "--url is the URL of one page"),
        ([], {"manifest": "nosuch.jsonl"}, "nosuch.jsonl cannot be read"),
    ],
)
def test_usage_errors_are_one_line_and_exit_with_2(run, args, opts, message):
    code, out, err = run(*args, **opts)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content", "url", "message"),
    [
        ("a.html", None, URL, "no such file"),
        ("a.html", GOOD.encode(), None, "its URL is not known"),
        ("a.html", GOOD.encode(), "mailto:a@b.c", "is not a web address"),
        ("a.gz", b"\x1f\x8bbroken", URL, "cannot be read"),
    ],
)
def test_unreadable_page_exits_with_1(run, tmp_path, name, content, url, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    code, out, err = run(str(path), url=url)
    assert (code, out) == (1, "")
    assert message in err


def test_page_that_takes_too_long_fails(run, tmp_path, monkeypatch):
    scripted_adapter(monkeypatch)
    saved = tmp_path / "a.html"
    saved.write_text("backtrack")
    options = {"url": URL, "adapter": "scripted"}
    code, out, _ = run(str(saved), json=True, **options)
    report = json.loads(out)
    assert (code, report["status"], report["reason"]) == (0, "failed", "READ_TIMEOUT")
    assert report["details"] == "not read within 0.5 seconds"
    code, _, err = run(str(saved), expected=True, **options)
    assert code == 1
    assert f"{saved}: READ_TIMEOUT: not read within 0.5 seconds." in err
