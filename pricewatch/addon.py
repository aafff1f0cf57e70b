"""The add-on that brings pricewatch into any Scrapy project: `ADDONS = {"pricewatch.addon.Pricewatch": 500}`.

Everything it sets is what `pricewatch.settings` says; what a project, a spider or the command line says wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings
from scrapy.utils.python import global_object_name

from pricewatch import settings as ours

PRIORITY = SETTINGS_PRIORITIES["addon"]
# What a project is called, how it logs and which event loop its process runs is its own business.
NOT_TAKEN = frozenset(
    {
        "ADDONS",
        "ASYNCIO_EVENT_LOOP",
        "BOT_NAME",
        "COMMANDS_MODULE",
        "NEWSPIDER_MODULE",
        "SPIDER_MODULES",
        "STATS_DUMP",
    }
)


class Pricewatch:
    """Checks, stores and charts what the spiders of a project yield, and fetches by our rules."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Name resolution belongs to the process, which has no crawler when it reads these."""
        set_defaults(settings)

    def update_settings(self, settings: BaseSettings) -> None:
        from pricewatch.settings_check import check_settings

        set_defaults(settings)
        for name, value in _taken():
            if _is_merged(name):
                _merge(settings, name, value)
        _use_own_name(settings)
        check_settings(settings)


def set_defaults(settings: BaseSettings) -> None:
    """Give every plain setting of ours its value, where nobody said another one."""
    for name, value in _taken():
        if not _is_merged(name):
            settings.set(name, value, priority=PRIORITY)


def _taken() -> Iterator[tuple[str, Any]]:
    for name, value in vars(ours).items():
        if name.isupper() and name not in NOT_TAKEN and not name.startswith("LOG_"):
            yield name, value


def _is_merged(name: str) -> bool:
    """Whether a setting is a dict of components: those of the project and ours go together."""
    return isinstance(getattr(default_settings, name, None), dict)


def _merge(settings: BaseSettings, name: str, components: dict[str, Any]) -> None:
    """Add our components to those of the project or the spider, which keep their own places."""
    given = settings.getdict(name)
    named = {key if isinstance(key, str) else global_object_name(key) for key in given}
    added = {key: value for key, value in components.items() if key not in named}
    priority = max(settings.getpriority(name) or 0, PRIORITY)
    settings.set(name, {**added, **given}, priority=priority)


def _use_own_name(settings: BaseSettings) -> None:
    """A project or spider that says who it is does not pass for a browser."""
    said = settings.getpriority("USER_AGENT") or 0
    if said > (settings.getpriority("HONEST_USER_AGENT") or 0):
        settings.set("HONEST_USER_AGENT", True, priority=said)
