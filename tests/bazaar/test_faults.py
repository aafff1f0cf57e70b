"""Every fault, over HTTP."""

import gzip
import http.client
import select
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.bazaar.visitor import Visitor, read_all
from tests.waiting import until


def test_status_with_headers_and_body(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("status", "/c/bikes", status=503, headers={"Retry-After": "7"}, body="later")
    answer = visitor.request("/c/bikes")
    assert (answer.status, answer.headers["Retry-After"], answer.body) == (503, "7", b"later")
    assert visitor.request("/c/toys").status == 200


def test_rate_limit_in_seconds_and_as_a_date(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("rate_limit", retry_after=9, times=1)
    bazaar.fault("rate_limit", retry_after=90, as_date=True)
    first, second = visitor.request("/"), visitor.request("/")
    assert (first.status, first.headers["Retry-After"]) == (429, "9")
    assert second.status == 429
    assert parsedate_to_datetime(second.headers["Retry-After"]) > datetime.now(UTC)


def test_hang_sends_nothing(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("hang", "/c/bikes")
    with visitor.connect() as sock:
        sock.sendall(b"GET /c/bikes HTTP/1.1\r\nHost: x\r\n\r\n")
        while not bazaar.log():
            pass
        assert not select.select([sock], [], [], 0.2)[0]
    (entry,) = bazaar.log()
    assert (entry.status, entry.action) == (None, "hang")


def test_hang_answers_after_the_given_seconds(bazaar: Bazaar, visitor: Visitor) -> None:
    normal = visitor.request("/c/bikes")
    bazaar.fault("hang", seconds=0.05)
    assert visitor.request("/c/bikes").body == normal.body


def test_hold_answers_when_the_fault_is_removed(bazaar: Bazaar, visitor: Visitor) -> None:
    normal = visitor.request("/c/bikes")
    bazaar.fault("hold", "/c/bikes")
    with ThreadPoolExecutor() as pool:
        held = [pool.submit(visitor.request, "/c/bikes") for _ in range(2)]
        until(lambda: len(bazaar.log()) == 3)
        assert not any(answer.done() for answer in held)
        bazaar.clear_faults()
        assert [answer.result(60).body for answer in held] == [normal.body] * 2


def test_slow_sends_the_normal_page_in_pieces(bazaar: Bazaar, visitor: Visitor) -> None:
    normal = visitor.request("/c/bikes")
    bazaar.fault("slow", bytes=2000, interval=0.005)
    with visitor.connect() as sock:
        sock.sendall(b"GET /c/bikes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        began = time.monotonic()
        answer = read_all(sock)
    assert answer.partition(b"\r\n\r\n")[2] == normal.body
    assert time.monotonic() - began >= 0.005 * (len(normal.body) // 2000 - 1)


def test_reset_is_a_tcp_reset(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("reset")
    assert visitor.is_reset("/c/bikes")
    (entry,) = bazaar.log()
    assert (entry.status, entry.action) == (None, "reset")


@pytest.mark.parametrize("keep", [None, 0, 100, 10**7])
def test_truncate_sends_less_than_content_length(bazaar: Bazaar, visitor: Visitor, keep: int | None) -> None:
    whole = len(visitor.request("/c/bikes").body)
    bazaar.fault("truncate", keep=keep)
    with pytest.raises(http.client.IncompleteRead) as error:
        visitor.request("/c/bikes")
    assert len(error.value.partial) == (whole // 2 if keep is None else min(keep, whole))


def test_big_body_sends_the_given_size(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("big_body", times=1)
    bazaar.fault("big_body", bytes=70_001, times=1)
    connection = http.client.HTTPConnection(visitor.place, timeout=60)
    sizes = []
    for _ in range(3):
        connection.request("GET", "/robots.txt")
        sizes.append(len(connection.getresponse().read()))
    connection.close()
    # The connection still works: the body had exactly the announced size.
    assert sizes == [12_000_000, 70_001, len(visitor.request("/robots.txt").body)]


def test_gzip_bomb_is_small_and_decompresses_to_the_given_size(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("gzip_bomb", bytes=3_000_001, times=1)
    bazaar.fault("gzip_bomb")
    small, large = visitor.request("/"), visitor.request("/")
    assert small.headers["Content-Encoding"] == "gzip"
    assert len(gzip.decompress(small.body)) == 3_000_001
    assert len(large.body) < 300_000
    # The last four bytes of a gzip are its decompressed size.
    assert int.from_bytes(large.body[-4:], "little") == 200_000_000


@pytest.mark.parametrize(
    ("action", "status", "text"),
    [
        ("captcha", 200, "g-recaptcha"),
        ("queue", 200, "You are now in line"),
        ("javascript_wall", 200, "turn JavaScript on"),
        ("access_denied", 403, "Access Denied"),
        ("soft_404", 200, "could not find this page"),
    ],
)
def test_block_pages_are_sent_instead_of_the_page(
    bazaar: Bazaar, visitor: Visitor, action: str, status: int, text: str
) -> None:
    bazaar.fault(action)
    answer = visitor.request("/c/bikes")
    assert answer.status == status
    assert text in answer.body.decode()
    assert answer.cards == []


def test_empty_body_and_blank_page(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("empty", "/c/bikes")
    bazaar.fault("blank", "/c/toys")
    empty, blank = visitor.request("/c/bikes"), visitor.request("/c/toys")
    assert (empty.status, empty.body) == (200, b"")
    assert blank.status == 200
    assert blank.body.startswith(b"<!doctype html>")
    assert blank.page.css("body").xpath("normalize-space()").get() == ""


def test_redirects_lead_to_another_or_the_same_address(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("redirect", "/c/bikes", to="http://elsewhere.example/", status=301)
    bazaar.fault("redirect_loop", "/c/toys")
    away, loop = visitor.request("/c/bikes"), visitor.request("/c/toys?page=2")
    assert (away.status, away.headers["Location"]) == (301, "http://elsewhere.example/")
    assert (loop.status, loop.headers["Location"]) == (302, "/c/toys?page=2")


def test_respond_sends_the_given_response(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("respond", status=418, headers={"Content-Type": "image/x"}, body_base64="//4AAA==")
    answer = visitor.request("/")
    assert (answer.status, answer.headers["Content-Type"], answer.body) == (418, "image/x", b"\xff\xfe\0\0")


def test_garble_renames_classes_and_removes_structured_data(bazaar: Bazaar, visitor: Visitor) -> None:
    normal = visitor.request("/c/bikes")
    item = normal.cards[0]["href"]
    bazaar.fault("garble")
    answer = visitor.request("/c/bikes")
    assert answer.status == 200
    assert answer.cards == []
    assert normal.cards[0]["text"] in answer.body.decode()
    page = visitor.request(item).page
    assert not page.css('.price, [itemprop], [data-id], script[type="application/ld+json"]')


def test_rules_match_path_query_host_and_method(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("status", r"^/c/bikes\?page=2$", host=r"^shop\.example$", method="get", status=500)
    assert visitor.request("/c/bikes?page=2", Host="shop.example").status == 500
    assert visitor.request("/c/bikes?page=2", "HEAD", Host="shop.example").status == 200
    assert visitor.request("/c/bikes?page=2", Host="other.example").status == 200
    assert visitor.request("/c/bikes?page=20", Host="shop.example").status == 200


def test_skip_and_times_limit_a_rule(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("status", "/c/", status=500, skip=2, times=3)
    assert [visitor.request("/c/toys").status for _ in range(7)] == [200, 200, 500, 500, 500, 200, 200]
    (rule,) = bazaar.faults()
    assert (rule["matched"], rule["hits"]) == (7, 3)


def test_probability_depends_on_the_seed(bazaar: Bazaar, visitor: Visitor) -> None:
    rounds = []
    for _ in range(2):
        bazaar.clear_faults()
        bazaar.fault("status", status=500, probability=0.5)
        rounds.append([visitor.request("/c/toys").status for _ in range(30)])
    assert rounds[0] == rounds[1]
    assert set(rounds[0]) == {200, 500}


def test_the_first_rule_that_fires_wins(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("status", status=502, times=1)
    bazaar.fault("status", status=504)
    assert [visitor.request("/").status for _ in range(3)] == [502, 504, 504]
    bazaar.clear_faults()
    assert visitor.request("/").status == 200


@pytest.mark.parametrize("action", ["big_body", "gzip_bomb", "slow", "truncate", "captcha"])
def test_faults_send_no_body_to_head(bazaar: Bazaar, visitor: Visitor, action: str) -> None:
    bazaar.fault(action)
    with visitor.connect() as sock:
        sock.sendall(b"HEAD /c/bikes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert read_all(sock).endswith(b"\r\n\r\n")
