"""Which settings each role may give to a job."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from pricewatch.rules.access.job_settings import PLAIN_SETTINGS, refused_setting
from pricewatch.vocabulary import AccessRole

CODE_PATHS_AND_ADDRESSES = {
    "ADDONS": '{"a.b.C": 1}',
    "ALLOWED_PRIVATE_HOSTS": "127.0.0.1",
    "CHROMIUM_PATH": "sh",
    "EXTENSIONS": '{"a.b.C": 1}',
    "FEEDS": '{"/tmp/x.csv": {"format": "csv"}}',
    "GUARD_ENABLED": "False",
    "ITEM_PIPELINES": '{"a.b.C": 1}',
    "JOBDIR": "x",
    "LOG_FILE": "x.log",
    "ROBOTSTXT_OBEY": "False",
    "log_level": "DEBUG",
    "": "x",
}


@pytest.mark.parametrize("role", [AccessRole.READ, AccessRole.OPERATE])
@pytest.mark.parametrize("name", CODE_PATHS_AND_ADDRESSES)
def test_settings_with_code_paths_and_addresses_need_an_administrator(role: AccessRole, name: str) -> None:
    value = CODE_PATHS_AND_ADDRESSES[name]
    assert refused_setting(role, {"LOG_LEVEL": "INFO", name: value}) == name
    assert refused_setting(AccessRole.ADMIN, {name: value}) is None


@pytest.mark.parametrize(
    ("value", "is_accepted"),
    [
        *((value, True) for value in ("5", "-1", "0.5", "DEBUG", "true", "", "x" * 20)),
        *((value, False) for value in ("a.b.C/x", "/tmp", "a b", "1\n", "x" * 21, "{}", "a:1", "٣", "a_b")),
    ],
)
def test_plain_settings_take_a_number_or_a_word(value: str, is_accepted: bool) -> None:
    expected = None if is_accepted else "LOG_LEVEL"
    assert refused_setting(AccessRole.OPERATE, {"LOG_LEVEL": value}) == expected


def test_the_defaults_of_plain_settings_are_numbers_and_words() -> None:
    """A setting that names a class, a path or an address has a default of another kind."""
    settings = Settings()
    settings.setmodule("pricewatch.settings")
    for name in PLAIN_SETTINGS:
        assert refused_setting(AccessRole.OPERATE, {name: str(settings[name])}) is None, name
        assert settings[name] is not None, name
