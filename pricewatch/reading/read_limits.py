"""The bounds of time and memory for reading a page, from the settings."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy.settings import BaseSettings


@dataclass(frozen=True, slots=True)
class ReadLimits:
    # Processor time for one page.
    seconds: float = 2.0
    # Larger pages are read in a reader process.
    process_bytes: int = 1_000_000
    # The number of reader processes, and the memory of each.
    processes: int = 2
    megabytes: int = 1024


def read_limits(settings: BaseSettings) -> ReadLimits:
    default = ReadLimits()
    return ReadLimits(
        settings.getfloat("READ_DEADLINE_SECONDS", default.seconds),
        settings.getint("READ_PROCESS_BYTES", default.process_bytes),
        settings.getint("READER_PROCESSES", default.processes),
        settings.getint("READER_MEMORY_MB", default.megabytes),
    )
