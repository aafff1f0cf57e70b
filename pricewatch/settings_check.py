"""Check settings before anything starts, with one-sentence errors."""

from __future__ import annotations

from scrapy.settings import BaseSettings

from pricewatch import settings as defaults
from pricewatch.errors import UserError
from pricewatch.fetching.name_resolution import AddressPolicy
from pricewatch.rules.proxy_config import STRATEGIES, parse_proxies
from pricewatch.rules.yes_or_no import is_yes_or_no

# Nothing could be read with less.
LEAST = {"READ_DEADLINE_SECONDS": 0.1, "READER_PROCESSES": 1, "READER_MEMORY_MB": 150}


def check_settings(settings: BaseSettings) -> None:
    for name, default in vars(defaults).items():
        if name.isupper() and isinstance(default, (int, float)) and not isinstance(default, bool):
            _check_number(name, settings.get(name, default))
    if not settings.getfloat("REQUESTS_PER_SECOND", defaults.REQUESTS_PER_SECOND):
        raise UserError("REQUESTS_PER_SECOND is 0; to stop all requests, disable the market or the source.")
    for name in ("BROWSER_WITHOUT_SANDBOX", "PROXIES_RESOLVE_UNKNOWN_NAMES"):
        if not is_yes_or_no(value := settings.get(name, "no")):
            raise UserError(f"{name} is {value!r}; it must be yes or no.")
    for name, least in LEAST.items():
        if settings.getfloat(name, least) < least:
            raise UserError(f"{name} is {settings.get(name)}; it must be at least {least}.")
    for name in STRATEGIES.values():
        try:
            parse_proxies(settings.get(name) or ())
        except ValueError:
            # The value is not repeated: it may contain a password.
            raise UserError(
                f"{name} must be a list of proxies such as http://user:password@host:8080."
            ) from None
    try:
        AddressPolicy(settings)
    except (ValueError, TypeError, AttributeError):
        raise UserError(
            "ALLOWED_PRIVATE_HOSTS must be hosts or networks such as 10.1.0.0/16,shop.internal:8080, "
            'and HOSTS must be addresses by name such as {"shop.internal": "10.1.2.3"}.'
        ) from None
    if url := settings.get("REDIS_URL"):
        _check_redis(url)


def _check_redis(url: str) -> None:
    from redis import Redis

    try:
        Redis.from_url(url).close()
    except ValueError:
        raise UserError("REDIS_URL must be a URL such as redis://host:6379/0.") from None


def _check_number(name: str, value: object) -> None:
    try:
        valid = float(str(value)) >= 0
    except ValueError:
        valid = False
    if not valid:
        raise UserError(f"{name} is {value!r}; it must be a number of at least 0.")
