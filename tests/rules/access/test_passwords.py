"""Which passwords and names are accepted."""

from __future__ import annotations

import pytest

from pricewatch.rules.access.passwords import name_problem, password_problem, token_name_problem


@pytest.mark.parametrize(
    "password",
    [
        "a violet bicycle",
        "twelve chars",
        "                 three spaces at both ends ",
        "ünïcödé 密码 🙂 фраза",
        "x7" * 30 + "y" * 60 + "12345678",
        "adalovelace knows",
    ],
)
def test_long_passwords_of_any_characters_are_accepted(password: str) -> None:
    assert password_problem(password, "ada") is None


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("elevenchars", "at least 12"),
        ("y7" * 64 + "z", "at most 128"),
        ("password1234", "commonest"),
        ("Password 1234", "commonest"),
        ("P-a-s-s-w-o-r-d-1-2-3-4", "commonest"),
        ("1q2w3e4r5t6y", "commonest"),
        ("aaaaaaaaaaaaaaaa", "commonest"),
        ("ababababababab", "commonest"),
        ("bartholomaeus", "name of the person"),
        ("Bartholomaeus-2026", "name of the person"),
        ("pw_aViolet Bicycle", "marks tokens"),
        ("a violet\x00bicycle", "NUL"),
    ],
)
def test_weak_passwords_are_refused(password: str, why: str) -> None:
    assert why in (password_problem(password, "bartholomaeus") or "")


@pytest.mark.parametrize(
    ("name", "is_accepted"),
    [("ada", True), ("ada.l@shop.example", True), ("7", True), ("x" * 64, True)]
    + [(name, False) for name in ("", "Ada", "a b", ".ada", "?3", "ada/x", "ädä", "x" * 65, "a\n")],
)
def test_names_of_people(name: str, is_accepted: bool) -> None:
    assert (name_problem(name) is None) is is_accepted


@pytest.mark.parametrize(
    ("name", "is_accepted"), [("Prometheus on rack 2", True), ("", False), (" x", False), ("a\nb", False)]
)
def test_names_of_tokens(name: str, is_accepted: bool) -> None:
    assert (token_name_problem(name) is None) is is_accepted
