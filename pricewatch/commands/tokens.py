"""`scrapy tokens`: tokens of programs that use the API, the metrics or scrapyd's services."""

from __future__ import annotations

import argparse

from pricewatch import clock
from pricewatch.console.action_command import ActionCommand
from pricewatch.console.terminal_io import print_json, print_message, print_table, user_name
from pricewatch.vocabulary import AccessRole

ROLES = [str(role) for role in AccessRole]


class Command(ActionCommand):
    name = "tokens"

    def short_desc(self) -> str:
        return "List, make and revoke the tokens of programs"

    def long_desc(self) -> str:
        return (
            "A program sends its token in the header `Authorization: Bearer TOKEN`, or as the password of "
            "basic authentication with any user name."
        )

    def add_actions(self) -> None:
        show = self.action("list", "List all tokens, with their last use")
        show.add_argument("--json", action="store_true", help="print one JSON object per line")
        make = self.action(
            "make",
            "Make a token and print it; it is not stored and cannot be shown again",
            "Examples:\n  scrapy tokens make prometheus\n"
            "  scrapy tokens make deploy --role admin --expires-days 90",
        )
        make.add_argument("token", metavar="NAME", help="what uses it; shown in the audit log")
        make.add_argument(
            "--role",
            choices=ROLES,
            default=str(AccessRole.READ),
            help="read: API, exports, metrics; operate: also jobs, markets, targets, quarantine; admin: "
            "everything, such as deploying (default: read)",
        )
        make.add_argument(
            "--expires-days", metavar="N", type=int, help="days until it expires (default: never)"
        )
        revoke = self.action("revoke", "Revoke a token")
        revoke.add_argument("token", metavar="NAME")

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.people import token_rows

        now = clock.now()
        with engine().connect() as connection:
            rows = token_rows.find_tokens(connection)
        if opts.json:
            print_json(rows)
            return
        cells = [
            (
                row["name"],
                row["role"],
                "revoked"
                if row["revoked_at"]
                else "expired"
                if row["expires_at"] and row["expires_at"] <= now
                else "in use",
                f"{row['last_used_at']:%Y-%m-%d %H:%M}" if row["last_used_at"] else "never",
                f"{row['expires_at']:%Y-%m-%d}" if row["expires_at"] else "never",
                row["created_by"],
            )
            for row in rows
        ]
        print_table(("name", "role", "state", "last use (UTC)", "expires", "made by"), cells)

    def do_make(self, opts: argparse.Namespace) -> None:
        from pricewatch.services import token_admin
        from pricewatch.services.people_admin import AdminAction
        from pricewatch.store.engine.database import engine

        with engine().begin() as connection:
            _, token = token_admin.make(
                connection,
                AdminAction(user_name(), clock.now()),
                name=opts.token,
                role=opts.role,
                expires_days=opts.expires_days,
            )
        print(token)
        print_message("Copy the token now: only its hash is stored.")

    def do_revoke(self, opts: argparse.Namespace) -> None:
        from pricewatch.services import token_admin
        from pricewatch.services.people_admin import AdminAction
        from pricewatch.store.engine.database import engine

        with engine().begin() as connection:
            token_admin.revoke(connection, AdminAction(user_name(), clock.now()), name=opts.token)
        print(f"The token {opts.token} is revoked.")
