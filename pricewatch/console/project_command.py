"""The base class of commands that start no crawler, and the settings of a command."""

from __future__ import annotations

from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings

BAD_INPUT = 2


class ProjectCommand(ScrapyCommand):
    """A command that needs the project, starts no crawler process and does not log."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}


def settings_of(command: ScrapyCommand) -> Settings:
    """Return the settings that Scrapy assigns before it calls a command."""
    if command.settings is None:
        raise RuntimeError("Scrapy sets the settings before it runs a command")
    return command.settings


def log_is_requested(settings: BaseSettings) -> bool:
    """Whether the user set a logging option, or requested output that only the log shows."""
    priorities = (settings.getpriority(name) or 0 for name in ("LOG_LEVEL", "LOG_FILE", "LOG_ENABLED"))
    return max(priorities) >= SETTINGS_PRIORITIES["cmdline"] or settings.getbool("STATS_DUMP")
