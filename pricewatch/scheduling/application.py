"""The scrapyd application: checks the configuration, connects to the database, adds the dispatcher."""

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
    load_credentials(config)
    check_address(config)
    move_login_to_auth(config)
    resolve_directories(config)
    make_logs_directory(config)
    try:
        check_node_name(membership(config))
        daemon = app.application(config)
        Dispatcher(config).setServiceParent(daemon)
    except UserError as error:
        raise ConfigError(f"pricewatch: {error}") from None
    reactor.suggestThreadPoolSize(THREADS)
    return daemon


def load_credentials(config: Config) -> None:
    """Read PRICEWATCH_USER and PRICEWATCH_PASSWORD, else scrapyd's variables, else the configuration file."""
    for option, names in (
        ("username", ("PRICEWATCH_USER", "SCRAPYD_USERNAME")),
        ("password", ("PRICEWATCH_PASSWORD", "SCRAPYD_PASSWORD")),
    ):
        value = next((os.environ[name] for name in names if os.environ.get(name)), None)
        if value is not None:
            # ConfigParser interpolates percent signs.
            config.cp.set(config.SECTION, option, value.replace("%", "%%"))


def check_address(config: Config) -> None:
    address = bind_address(config)
    has_login = config.get("username", "") and config.get("password", "")
    if address and address not in LOOPBACK and not has_login:
        raise ConfigError(
            f"pricewatch: Without a login, anyone who can reach {address} could use the daemon: set "
            "PRICEWATCH_USER and PRICEWATCH_PASSWORD, or bind_address = 127.0.0.1 in scrapyd.conf."
        )


def move_login_to_auth(config: Config) -> None:
    """Rename the login options, because scrapyd's basic authentication would also cover the login page."""
    for option in ("username", "password"):
        os.environ.pop(f"SCRAPYD_{option.upper()}", None)
        config.cp.set(config.SECTION, f"login_{option}", config.get(option, "").replace("%", "%%"))
        config.cp.set(config.SECTION, option, "")


def resolve_directories(config: Config) -> None:
    """Move directories below var/ in scrapyd.conf into the directory that PRICEWATCH_VAR names."""
    for option in DIRECTORIES:
        configured = Path(config.get(option, ""))
        if configured.parts[:1] == ("var",):
            directory = var_directory().resolve() / Path(*configured.parts[1:])
            config.cp.set(config.SECTION, option, str(directory).replace("%", "%%"))


def make_logs_directory(config: Config) -> None:
    """Create the directory at the start, so that /logs/ answers before the first job has run."""
    directory = config.get("logs_dir", "")
    try:
        if directory:
            Path(directory).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"pricewatch: Cannot write logs to {directory} ({error.strerror or error}): make it "
            "writable, set PRICEWATCH_VAR to another directory, or change logs_dir in scrapyd.conf."
        ) from None


def check_node_name(member: Membership) -> None:
    """Refuse a name in use: two daemons of one name would treat each other's jobs as orphans."""
    with member.begin() as connection:
        other = node_rows.find_same_name(connection, member.place, member.lease)
    if other is None:
        return
    pid, instance = other
    if not member.is_on_this_host(instance) or pid == os.getpid():
        return
    if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        raise UserError(
            f"A daemon named {member.place.node} is already running (process {pid}): stop it, or set "
            "PRICEWATCH_NODE to another name."
        )
