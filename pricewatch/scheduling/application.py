"""The scrapyd application: checks the configuration, connects to the database, adds the dispatcher."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from scrapyd import app
from scrapyd.config import Config
from scrapyd.exceptions import ConfigError
from twisted.application.service import IServiceCollection
from twisted.internet import reactor as _reactor
from twisted.web.server import Site

from pricewatch.errors import UserError
from pricewatch.scheduling import daemon_log
from pricewatch.scheduling.dispatcher import Dispatcher
from pricewatch.scheduling.membership import LOOPBACK, Membership, bind_address, membership
from pricewatch.store.engine.database import var_directory
from pricewatch.store.engine.private_files import close_files, private_directory
from pricewatch.store.queues import node_rows
from pricewatch.web.server.limited_site import LimitedSite

reactor: Any = _reactor
DIRECTORIES = ("eggs_dir", "logs_dir", "dbs_dir", "items_dir", "jobs_dir")
THREADS = 24


def application(config: Config) -> Any:
    # Files of the daemon and of its jobs are for this user only.
    os.umask(0o077)
    load_credentials(config)
    daemon_log.hide_secrets([config.get("password", "")])
    check_address(config)
    move_login_to_auth(config)
    resolve_directories(config)
    prepare_directories(config)
    try:
        check_node_name(membership(config))
        daemon = app.application(config)
        limit_requests(daemon)
        Dispatcher(config).setServiceParent(daemon)
        daemon_log.set_log(daemon, sys.argv[1:])
    except UserError as error:
        raise ConfigError(f"pricewatch: {error}") from None
    reactor.suggestThreadPoolSize(THREADS)
    return daemon


def limit_requests(daemon: Any) -> None:
    """Replace the site of scrapyd, which reads bodies of any length, in the services that listen."""
    services: Any = IServiceCollection(daemon)
    for service in services:
        if isinstance(site := getattr(service, "args", (None, None))[-1], Site):
            root = site.resource
            service.args = (*service.args[:-1], LimitedSite(root, root.auth, root.auth.configuration.limits))


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


def prepare_directories(config: Config) -> None:
    """Close var/ to other users; create the logs, so that /logs/ answers before the first job has run."""
    var = var_directory().resolve()
    directories = [Path(config.get(option, "")) for option in DIRECTORIES if config.get(option, "")]
    in_var = [directory for directory in directories if directory.is_relative_to(var)]
    logs = config.get("logs_dir", "")
    try:
        if in_var:
            private_directory(var)
        if logs:
            Path(logs).mkdir(parents=True, exist_ok=True)
        for directory in in_var:
            close_files(directory)
    except OSError as error:
        raise ConfigError(
            f"pricewatch: Cannot write logs to {logs or var} ({error.strerror or error}): make it "
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
