"""The add-on that enables pricewatch in any Scrapy project: `ADDONS = {"pricewatch.addon.Pricewatch": 500}`.

It applies the values of `pricewatch.settings`; the project, the spider and the command line take precedence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings
from scrapy.utils.python import global_object_name

from pricewatch import settings as pricewatch_settings

PRIORITY = SETTINGS_PRIORITIES["addon"]
# Settings that the project decides: its names, its logging and its event loop.
PROJECT_SETTINGS = frozenset(
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
    """Validate and store the items of a project's spiders, and fetch with pricewatch's middlewares."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Set the defaults early: the process reads its DNS settings before there is a crawler."""
        set_defaults(settings)

    def update_settings(self, settings: BaseSettings) -> None:
        from pricewatch.settings_check import check_settings

        set_defaults(settings)
        for name, value in _applied_settings():
            if _is_component_dict(name):
                _merge_components(settings, name, value)
        _prefer_configured_user_agent(settings)
        check_settings(settings)


def set_defaults(settings: BaseSettings) -> None:
    """Set every setting that is not a dict of components, unless it is set with a higher priority."""
    for name, value in _applied_settings():
        if not _is_component_dict(name):
            settings.set(name, value, priority=PRIORITY)


def _applied_settings() -> Iterator[tuple[str, Any]]:
    for name, value in vars(pricewatch_settings).items():
        if name.isupper() and name not in PROJECT_SETTINGS and not name.startswith("LOG_"):
            yield name, value


def _is_component_dict(name: str) -> bool:
    """Return whether a setting is a dict of components, which is merged with the project's."""
    return isinstance(getattr(default_settings, name, None), dict)


def _merge_components(settings: BaseSettings, name: str, components: dict[str, Any]) -> None:
    """Add pricewatch's components to those of the project or spider, which keep their order values."""
    configured = settings.getdict(name)
    named = {key if isinstance(key, str) else global_object_name(key) for key in configured}
    added = {key: value for key, value in components.items() if key not in named}
    priority = max(settings.getpriority(name) or 0, PRIORITY)
    settings.set(name, {**added, **configured}, priority=priority)


def _prefer_configured_user_agent(settings: BaseSettings) -> None:
    """Enable HONEST_USER_AGENT if the project or spider sets a USER_AGENT of its own."""
    priority = settings.getpriority("USER_AGENT") or 0
    if priority > (settings.getpriority("HONEST_USER_AGENT") or 0):
        settings.set("HONEST_USER_AGENT", True, priority=priority)
