"""Several daemons and their embedded database in one directory, with queries and job control."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import psutil  # type: ignore[import-untyped]
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from pricewatch.store.engine import embedded_postgres
from pricewatch.store.queues.job_queue import PROJECT
from tests.chaos.node import Node

T = TypeVar("T")
STOP_SECONDS = 30.0
WAIT_SECONDS = 60.0


class DeadlineExceeded(Exception):
    """Something did not happen in time."""


class Cluster:
    def __init__(self, directory: Path, engine: Engine, nodes: int) -> None:
        self.directory = directory
        self.engine = engine
        self.nodes = [Node(directory / "nodes", f"node-{number}") for number in range(1, nodes + 1)]

    def start(self) -> None:
        for node in self.nodes:
            node.start()

    def supervise(self) -> None:
        """Start daemons that are down, as systemd would: one that finds no database at its start exits."""
        for node in self.nodes:
            if not node.is_up:
                node.start()

    def wait_until_joined(self) -> None:
        """Start daemons that are down, and wait until all have joined the cluster."""
        self.until("all nodes have joined", self._all_joined)

    def _all_joined(self) -> bool:
        self.supervise()
        pids = {(node.name, node.process.pid) for node in self.nodes if node.process is not None}
        return pids <= {(name, pid) for name, pid in self.rows("SELECT name, pid FROM nodes")}

    def stop(self) -> None:
        for node in self.nodes:
            node.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for node in self.nodes:
            if node.process is not None:
                try:
                    node.process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    node.kill()

    def processes_left(self) -> list[str]:
        """Return the daemons and spiders that still run in the directory of this cluster."""
        left = []
        for process in psutil.process_iter(["pid", "cmdline"]):
            with suppress(psutil.Error):
                words = process.info["cmdline"] or []
                is_member = process.environ().get("PRICEWATCH_VAR") == str(self.directory)
                if is_member and ("crawl" in words or "tests.chaos.node" in words):
                    left.append(f"process {process.pid}: {' '.join(words)[:80]}")
        return left

    def call(self, function: Callable[[Connection], T]) -> T:
        """Call a function with a transaction, and retry while the database is down."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                with self.engine.begin() as connection:
                    return function(connection)
            except SQLAlchemyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def rows(self, query: str, **values: Any) -> list[Any]:
        return self.call(lambda connection: list(connection.execute(text(query), values)))

    def value(self, query: str, **values: Any) -> Any:
        return self.rows(query, **values)[0][0]

    def restart_database(self, mode: str, pause: float = 0.0) -> None:
        """Stop the database, `fast` or `immediate` (a crash), and start it unless another process did."""
        with suppress(subprocess.SubprocessError):
            embedded_postgres.pg_ctl(self.directory, "stop", "-m", mode)
        time.sleep(pause)
        embedded_postgres.database_url(self.directory)

    def post(self, rng: random.Random, path: str, **fields: str) -> Any:
        """Send a request to any daemon that is up; return None if it does not accept it."""
        up = [node for node in self.nodes if node.is_up]
        if not up:
            return None
        try:
            response = rng.choice(up).request(path, project=PROJECT, **fields)
        except (OSError, ValueError):
            return None
        return response if response.get("status") == "ok" else None

    def jobs_left(self) -> int:
        return int(self.value("SELECT count(*) FROM jobs WHERE ended_at IS NULL"))

    def until(self, event: str, condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise DeadlineExceeded(f"{event}: not within {seconds:.0f} seconds")
            time.sleep(0.2)
