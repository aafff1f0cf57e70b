"""CSV files of URLs in common formats."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.parsing.target_csv import CsvFile, decode, read_csv


def urls(file: CsvFile) -> list[str]:
    return [line.values.get("url", "") for line in file.lines if line.problem is None]


@pytest.mark.parametrize(
    ("encoding", "separator"),
    [("utf-8", ","), ("utf-8-sig", ";"), ("utf-16", "\t"), ("cp1252", ";"), ("utf-8", "|")],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_common_encodings_separators_and_line_ends_are_read(
    encoding: str, separator: str, line_end: str
) -> None:
    lines = [
        separator.join(("URL", "Notes", "Price selector")),
        separator.join(("https://a.example/größe", f'"with {separator} and ""quotes"""', ".price")),
        "",
        separator.join((" https://b.example/2 ", "", "")),
    ]
    found = read_csv(line_end.join(lines).encode(encoding))
    assert [line.number for line in found.lines] == [2, 4]
    assert found.lines[0].values == {
        "url": "https://a.example/größe",
        "notes": f'with {separator} and "quotes"',
        "price": ".price",
    }
    assert found.lines[1].values == {"url": "https://b.example/2"}


def test_file_without_header_has_one_url_per_line() -> None:
    found = read_csv(b'https://a.example/1,2;3\n"https://b.example/2"\n\n  https://c.example\n')
    assert urls(found) == ["https://a.example/1,2;3", "https://b.example/2", "https://c.example"]


@pytest.mark.parametrize(
    "line",
    [
        "Link;Name;Price",
        "Link;Price\nhttps://shop.example/p/1;12.99",
        "https://shop.example/p/1;Red lamp;12,99",
        "https://shop.example/p/1,0 6 * * *,5",
        "https://shop.example/p/1,,",
        "https://shop.example/p/1\thttps://shop.example/p/2",
        "https://shop.example/p/1|5",
    ],
)
def test_more_cells_need_a_header(line: str) -> None:
    found = read_csv(line.encode()).lines[-1]
    assert found.problem == "it has more than a URL, and there is no header with a column `url`"


@pytest.mark.parametrize("path", ["a,b_1,2.html", "a;jsessionid=1", "a?x=1,2&y=;z=3"])
def test_url_may_contain_a_separator(path: str) -> None:
    (found,) = read_csv(f"https://shop.example/{path}".encode()).lines
    assert (found.values["url"], found.problem) == (f"https://shop.example/{path}", None)


def test_double_byte_order_mark_is_removed() -> None:
    (found,) = read_csv("\ufeff\ufeffurl;notes\nhttps://shop.example/p/1;red".encode()).lines
    assert found.values == {"url": "https://shop.example/p/1", "notes": "red"}


def test_separator_line_and_unknown_columns_are_ignored() -> None:
    found = read_csv(b"sep=;\nurl;colour;title_selector\nhttps://a.example/1;red;h1\n")
    assert found.lines[0].values == {"url": "https://a.example/1", "title": "h1"}
    assert "colour" in found.notices[0]


def test_bad_line_does_not_affect_its_neighbours() -> None:
    lines = [
        "url,notes",
        'https://a.example/1,"not closed',
        "https://a.example/2,",
        "https://a.example/3,one,two,three",
        f"https://a.example/4,{'x' * 9000}",
        'https://a.example/5,"over',
        'two lines"',
        "https://a.example/6,",
        *(f"https://b.example/{number}," for number in range(20)),
    ]
    found = read_csv("\n".join(lines).encode())
    problems = {line.number: line.problem for line in found.lines if line.problem}
    assert set(problems) == {2, 4, 5}
    assert problems[2] == "a quote is not closed"
    assert "longer" in (problems[5] or "")
    assert "4 cells" in (problems[4] or "")
    assert [f"https://b.example/{number}" for number in range(20)] == urls(found)[-20:]
    assert urls(found)[:3] == [f"https://a.example/{number}" for number in (2, 5, 6)]


def test_unclosed_quote_affects_one_line() -> None:
    lines = ["url,notes", 'https://a.example/1,"oops', *(f"https://b.example/{n}," for n in range(50))]
    found = read_csv("\n".join(lines).encode())
    assert [line.number for line in found.lines if line.problem] == [2]
    assert len(urls(found)) == 50


@given(st.binary(max_size=300))
def test_no_data_raises_and_no_line_is_lost(data: bytes) -> None:
    found = read_csv(data)
    numbers = [line.number for line in found.lines]
    assert numbers == sorted(set(numbers))
    assert isinstance(decode(data), str)
