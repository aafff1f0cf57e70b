"""The daemon as scrapyd starts it: safe to be reached, tied to the database, with its dispatcher."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from scrapyd import app
from scrapyd.config import Config
from scrapyd.exceptions import ConfigError
from twisted.internet import reactor as _reactor

from pricewatch.errors import UserError
from pricewatch.scheduling.dispatcher import Dispatcher
from pricewatch.scheduling.membership import LOOPBACK, Membership, bind_address, membership
from pricewatch.store.engine.database import var_directory
from pricewatch.store.queues import node_rows

reactor: Any = _reactor
DIRECTORIES = ("eggs_dir", "logs_dir", "dbs_dir", "items_dir", "jobs_dir")
THREADS = 24


def application(config: Config) -> Any:
    take_credentials(config)
    check_address(config)
    hand_over_login(config)
    settle_directories(config)
    make_logs_directory(config)
    try:
        ours = membership(config)
        check_name(ours)
        daemon = app.application(config)
        Dispatcher(config).setServiceParent(daemon)
    except UserError as error:
        raise ConfigError(f"pricewatch: {error}") from None
    reactor.suggestThreadPoolSize(THREADS)
    return daemon


def take_credentials(config: Config) -> None:
    """PRICEWATCH_USER and PRICEWATCH_PASSWORD, else scrapyd's own names, else the configuration file."""
    for option, names in (
        ("username", ("PRICEWATCH_USER", "SCRAPYD_USERNAME")),
        ("password", ("PRICEWATCH_PASSWORD", "SCRAPYD_PASSWORD")),
    ):
        given = next((os.environ[name] for name in names if os.environ.get(name)), None)
        if given is not None:
            # Percent signs mean something in configuration files.
            config.cp.set(config.SECTION, option, given.replace("%", "%%"))


def check_address(config: Config) -> None:
    address = bind_address(config)
    both = config.get("username", "") and config.get("password", "")
    if address and address not in LOOPBACK and not both:
        raise ConfigError(
            f"pricewatch: The daemon would be open to everybody who can reach {address}: set PRICEWATCH_USER "
            "and PRICEWATCH_PASSWORD, or bind_address = 127.0.0.1 in scrapyd.conf."
        )


def hand_over_login(config: Config) -> None:
    """scrapyd would ask in front of everything, the login page too: the gate asks instead."""
    for option in ("username", "password"):
        os.environ.pop(f"SCRAPYD_{option.upper()}", None)
        config.cp.set(config.SECTION, f"login_{option}", config.get(option, "").replace("%", "%%"))
        config.cp.set(config.SECTION, option, "")


def settle_directories(config: Config) -> None:
    """What scrapyd.conf puts under var/ goes to where pricewatch writes, wherever that is."""
    for option in DIRECTORIES:
        given = Path(config.get(option, ""))
        if given.parts[:1] == ("var",):
            place = var_directory().resolve() / Path(*given.parts[1:])
            config.cp.set(config.SECTION, option, str(place).replace("%", "%%"))


def make_logs_directory(config: Config) -> None:
    """Its page is there before the first log is, and no job fails for want of it."""
    place = config.get("logs_dir", "")
    try:
        if place:
            Path(place).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"pricewatch: Logs cannot be kept in {place} ({error.strerror or error}): make it writable, set "
            "PRICEWATCH_VAR to another directory, or logs_dir in scrapyd.conf."
        ) from None


def check_name(ours: Membership) -> None:
    """Two daemons of one name would take each other's jobs for left behind."""
    with ours.begin() as connection:
        found = node_rows.namesake(connection, ours.place, ours.lease)
    if found is None or not ours.is_here(found[1]) or found[0] == os.getpid():
        return
    if psutil.pid_exists(found[0]) and psutil.Process(found[0]).status() != psutil.STATUS_ZOMBIE:
        raise UserError(
            f"A daemon named {ours.place.node} runs already (process {found[0]}): end it, or set "
            "PRICEWATCH_NODE to another name."
        )
