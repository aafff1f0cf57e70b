"""Orders of habits, and habits that depend on the request."""

import json
import subprocess
import sys

import pytest

from pricewatch.bazaar.client import Bazaar, BazaarError
from pricewatch.bazaar.habits.registry import HABITS
from tests.bazaar.conftest import START
from tests.bazaar.ground_truth import listed
from tests.bazaar.visitor import Visitor


def test_every_page_is_a_maintenance_page_for_an_hour(bazaar: Bazaar, visitor: Visitor) -> None:
    true = listed(bazaar)[0]
    bazaar.habit("maintenance", hours=1)
    for path in ("/", "/c/bikes", true.url, "/item/nothing-aaaaaa"):
        answer = visitor.request(path)
        assert (answer.status, "maintenance" in answer.body.decode()) == (200, True)
    assert visitor.request("/robots.txt").body.startswith(b"User-agent")
    bazaar.advance(hours=1)
    assert visitor.request(true.url).page.css("main::attr(data-id)").get() == true.id
    away = next(each for each in bazaar.truth("bikes") if each.id == true.id).shown
    assert [(each.listed, each.page_price) for each in away[-3:]] == [
        (True, True),
        (False, False),
        (True, True),
    ]


def test_some_requests_get_the_alternative_layout(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("ab_layout")
    pages = [visitor.request(f"/c/bikes?rows=10&page={number}") for number in range(1, 13)]
    tiles = [answer for answer in pages if answer.page.css("li.tile")]
    assert 0 < len(tiles) < len(pages)
    other = tiles[0]
    assert len(other.page.css("li.tile[data-id][data-price]")) == 10
    assert other.page.css("article.card").get() is None
    assert other.headers["Set-Cookie"].startswith("layout=b")
    assert all(
        visitor.request(f"/c/bikes?page={n}", Cookie="layout=b").page.css("li.tile") for n in range(1, 4)
    )


def test_every_habit_can_be_ordered_by_name(bazaar: Bazaar) -> None:
    assert bazaar.known_habits() == {name: habit.about for name, habit in HABITS.items()}
    for name in HABITS:
        bazaar.habit(name, category="toys")
    assert [order.habit for order in bazaar.habits()] == list(HABITS)
    assert len(bazaar.truth("toys")) > 0
    bazaar.reset(START)
    assert bazaar.habits() == []


def test_a_habit_applies_to_one_category_or_all(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("beyond_404", category="toys")
    assert [visitor.request(f"/c/{name}?page=99").status for name in ("toys", "bikes")] == [404, 200]
    bazaar.habit("beyond_410")
    assert [visitor.request(f"/c/{name}?page=99").status for name in ("toys", "bikes")] == [410, 410]
    bazaar.drop_habits("beyond_410")
    assert [visitor.request(f"/c/{name}?page=99").status for name in ("toys", "bikes")] == [404, 200]


def test_reset_removes_habits(bazaar: Bazaar, visitor: Visitor) -> None:
    before, page = bazaar.truth(), visitor.request("/c/bikes").body
    for name in HABITS:
        bazaar.habit(name)
    bazaar.reset(START)
    assert (bazaar.truth(), visitor.request("/c/bikes").body) == (before, page)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ({"habit": "shouting"}, "habit must be one of beyond_404,"),
        ({"habit": "backorder", "category": "boats"}, "Unknown category: boats."),
        ({"habit": "backorder", "ids": ["1"]}, "Unknown listing: 1."),
        ({"habit": "backorder", "ids": "1"}, "ids must be a list of strings."),
        ({"habit": "backorder", "hours": -1}, "hours must be a number of at least 0."),
        ({"habit": "backorder", "ends": "2000-01-01"}, "ends must not be before begins."),
        ({"habit": "backorder", "loud": True}, "Unknown fields: loud."),
    ],
)
def test_an_invalid_order_is_rejected_with_a_message(
    bazaar: Bazaar, order: dict[str, object], message: str
) -> None:
    with pytest.raises(BazaarError, match=message):
        bazaar._call("POST", "habits", order)
    with pytest.raises(BazaarError, match="Unknown habit: shouting"):
        bazaar.drop_habits("shouting")
    assert bazaar.habits() == []


def test_habits_can_be_ordered_on_the_command_line() -> None:
    command = [sys.executable, "-m", "pricewatch.bazaar"]
    help_text = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(f"  {name} " in help_text and habit.about in help_text for name, habit in HABITS.items())
    rejected = subprocess.run([*command, "--habits", "shouting"], capture_output=True, text=True)
    assert (rejected.returncode, "unknown habit 'shouting'" in rejected.stderr) == (2, True)
    with Bazaar.start(listings=60, habits="beyond_410,cards_without_price@toys") as bazaar:
        assert [(each.habit, each.category) for each in bazaar.habits()] == [
            ("beyond_410", None),
            ("cards_without_price", "toys"),
        ]
        assert json.loads(Visitor(bazaar.url).request("/_control/habits").body)["ordered"][0]["share"] == 1.0
