"""Settings as people give them: what cannot be used is said in one sentence, before anything starts."""

from __future__ import annotations

from scrapy.settings import BaseSettings

from pricewatch import settings as defaults
from pricewatch.errors import UserError
from pricewatch.fetching.name_resolution import AddressBook
from pricewatch.rules.proxy_config import STRATEGIES, parse_proxies


def check_settings(settings: BaseSettings) -> None:
    for name, default in vars(defaults).items():
        if name.isupper() and isinstance(default, (int, float)) and not isinstance(default, bool):
            _check_number(name, settings.get(name, default))
    if not settings.getfloat("REQUESTS_PER_SECOND", defaults.REQUESTS_PER_SECOND):
        raise UserError("REQUESTS_PER_SECOND is 0; for no request at all, disable the market or the source.")
    for name in STRATEGIES.values():
        try:
            parse_proxies(settings.get(name) or ())
        except ValueError:
            # What was given is not shown: it may have a password in it.
            raise UserError(f"{name} should be proxies such as http://user:password@host:8080.") from None
    try:
        AddressBook(settings)
    except (ValueError, TypeError, AttributeError):
        raise UserError(
            "ALLOWED_PRIVATE_HOSTS should be hosts or networks such as 10.1.0.0/16,shop.internal:8080, "
            'and HOSTS addresses by name such as {"shop.internal": "10.1.2.3"}.'
        ) from None
    if url := settings.get("REDIS_URL"):
        _check_redis(url)


def _check_redis(url: str) -> None:
    from redis import Redis

    try:
        Redis.from_url(url).close()
    except ValueError:
        raise UserError("REDIS_URL should look like redis://host:6379/0.") from None


def _check_number(name: str, given: object) -> None:
    try:
        usable = float(str(given)) >= 0
    except ValueError:
        usable = False
    if not usable:
        raise UserError(f"{name} is {given!r}; it should be a number, at least 0.")
