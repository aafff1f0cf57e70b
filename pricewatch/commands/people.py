"""`scrapy people`: who may log in to the web interface, with which role."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from typing import TYPE_CHECKING

from pricewatch import clock
from pricewatch.console.action_command import ActionCommand
from pricewatch.console.terminal_io import print_json, print_table, user_name
from pricewatch.errors import UserError
from pricewatch.vocabulary import AccessRole

if TYPE_CHECKING:
    from pricewatch.services.people_admin import AdminAction

ROLES = [str(role) for role in AccessRole]
ROLE_HELP = "read: look; operate: also jobs, markets, targets, quarantine, alerts; admin: everything"
INPUT_HELP = """\
The password is asked for, or read from the first line of standard input:
  scrapy people add ada --role operate < password-file
It has 12 to 128 characters of any kind."""


class Command(ActionCommand):
    name = "people"

    def short_desc(self) -> str:
        return "List, add, change and remove the people who may log in"

    def long_desc(self) -> str:
        return (
            "People log in as soon as PRICEWATCH_USER and PRICEWATCH_PASSWORD are set. That user is an "
            "administrator and is not listed here. A changed password or role ends the person's sessions."
        )

    def add_actions(self) -> None:
        show = self.action("list", "List all people")
        show.add_argument("--json", action="store_true", help="print one JSON object per line")
        add = self.action("add", "Add a person", INPUT_HELP)
        add.add_argument("person", metavar="NAME")
        add.add_argument(
            "--role", choices=ROLES, default=str(AccessRole.READ), help=f"{ROLE_HELP} (default: read)"
        )
        password = self.action("password", "Set the password of a person", INPUT_HELP)
        password.add_argument("person", metavar="NAME")
        role = self.action("role", "Change the role of a person", ROLE_HELP)
        role.add_argument("person", metavar="NAME")
        role.add_argument("role", choices=ROLES)
        disable = self.action("disable", "Refuse the logins of a person, and end the sessions")
        disable.add_argument("person", metavar="NAME")
        enable = self.action("enable", "Allow the logins of a person again")
        enable.add_argument("person", metavar="NAME")
        remove = self.action("remove", "Remove a person; the audit log keeps the name")
        remove.add_argument("person", metavar="NAME")

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.people import person_rows

        with engine().connect() as connection:
            rows = person_rows.find_people(connection)
        if opts.json:
            print_json(rows)
            return
        cells = [
            (
                row["name"],
                row["role"],
                "yes" if row["enabled"] else "no",
                f"{row['last_login_at']:%Y-%m-%d %H:%M}" if row["last_login_at"] else "never",
                row["sessions"],
                row["created_by"],
            )
            for row in rows
        ]
        print_table(("name", "role", "enabled", "last login (UTC)", "sessions", "added by"), cells)

    def do_add(self, opts: argparse.Namespace) -> None:
        from pricewatch.services import people_admin
        from pricewatch.store.engine.database import engine

        password = _read_password()
        reserved = os.environ.get("PRICEWATCH_USER", "")
        with engine().begin() as connection:
            name = people_admin.add(
                connection, _actor(), name=opts.person, role=opts.role, password=password, reserved=reserved
            )
        print(f"{name} is added with the role {opts.role}.")

    def do_password(self, opts: argparse.Namespace) -> None:
        from pricewatch.services import people_admin
        from pricewatch.store.engine.database import engine

        with engine().connect() as connection:
            people_admin.find(connection, opts.person)
        password = _read_password()
        with engine().begin() as connection:
            people_admin.set_password(connection, _actor(), opts.person, password)
        print(f"The password of {opts.person} is changed. All sessions of {opts.person} have ended.")

    def do_role(self, opts: argparse.Namespace) -> None:
        from pricewatch.services import people_admin
        from pricewatch.store.engine.database import engine

        with engine().begin() as connection:
            people_admin.set_role(connection, _actor(), opts.person, opts.role)
        print(f"{opts.person} now has the role {opts.role}. All sessions of {opts.person} have ended.")
        _print_tokens(opts.person)

    def do_disable(self, opts: argparse.Namespace) -> None:
        self._set_enabled(opts.person, False)
        print(f"{opts.person} can no longer log in.")
        _print_tokens(opts.person)

    def do_enable(self, opts: argparse.Namespace) -> None:
        self._set_enabled(opts.person, True)
        print(f"{opts.person} may log in again.")

    def do_remove(self, opts: argparse.Namespace) -> None:
        from pricewatch.services import people_admin
        from pricewatch.store.engine.database import engine

        with engine().begin() as connection:
            people_admin.remove(connection, _actor(), opts.person)
        print(f"{opts.person} is removed.")
        _print_tokens(opts.person)

    def _set_enabled(self, name: str, enabled: bool) -> None:
        from pricewatch.services import people_admin
        from pricewatch.store.engine.database import engine

        with engine().begin() as connection:
            people_admin.set_enabled(connection, _actor(), name, enabled)


def _print_tokens(name: str) -> None:
    from pricewatch.services import people_admin
    from pricewatch.store.engine.database import engine

    with engine().connect() as connection:
        if note := people_admin.note_on_tokens(connection, _actor(), name):
            print(note)


def _actor() -> AdminAction:
    from pricewatch.services.people_admin import AdminAction

    return AdminAction(user_name(), clock.now())


def _read_password() -> str:
    """Ask twice on a terminal, else read one line; a command line would be visible to every user."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Password again: ") != password:
        raise UserError("The two passwords differ.")
    return password
