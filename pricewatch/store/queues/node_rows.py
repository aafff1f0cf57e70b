"""The nodes of the cluster: registration, heartbeats and lost nodes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from pricewatch.store.queues.job_queue import LeaseHolder

_REGISTER = text("""
INSERT INTO nodes (name, instance, url, pid, slots) VALUES (:node, :instance, :url, :pid, :slots)
ON CONFLICT (name) DO UPDATE SET instance = :instance, url = :url, pid = :pid, slots = :slots,
    started_at = now(), heartbeat_at = now(), stopped_at = NULL
""")
_HEARTBEAT = text(
    "UPDATE nodes SET heartbeat_at = now(), stopped_at = NULL WHERE name = :node AND instance = :instance"
)
_MARK_STOPPED = text("UPDATE nodes SET stopped_at = now() WHERE name = :node AND instance = :instance")
_SAME_NAME = text("""
SELECT pid, instance FROM nodes
WHERE name = :node AND instance <> :instance AND stopped_at IS NULL AND heartbeat_at > now() - :silence
""")
_LIST = text("""
SELECT n.name, n.url, n.slots, n.started_at, n.heartbeat_at, n.stopped_at,
       (SELECT count(*) FROM jobs j WHERE j.state = 'running' AND j.node = n.name)
FROM nodes n ORDER BY n.name
""")
_LOST = text("""
SELECT name, heartbeat_at FROM nodes
WHERE stopped_at IS NULL AND heartbeat_at < now() - :silence ORDER BY name
""")
_DELETE_SILENT = text("DELETE FROM nodes WHERE heartbeat_at < now() - :after")


@dataclass(frozen=True, slots=True)
class NodeRecord:
    name: str
    url: str | None
    slots: int
    started_at: datetime
    heartbeat_at: datetime
    stopped_at: datetime | None
    running: int


def register(connection: Connection, holder: LeaseHolder, *, url: str | None, pid: int, slots: int) -> None:
    connection.execute(
        _REGISTER,
        {"node": holder.node, "instance": holder.instance, "url": url, "pid": pid, "slots": slots},
    )


def record_heartbeat(connection: Connection, holder: LeaseHolder) -> bool:
    """Record a heartbeat; return False if another daemon has registered this name."""
    parameters = {"node": holder.node, "instance": holder.instance}
    return connection.execute(_HEARTBEAT, parameters).rowcount == 1


def mark_stopped(connection: Connection, holder: LeaseHolder) -> None:
    connection.execute(_MARK_STOPPED, {"node": holder.node, "instance": holder.instance})


def find_same_name(connection: Connection, holder: LeaseHolder, silence: timedelta) -> tuple[int, str] | None:
    """Return pid and instance of another running daemon with the same node name."""
    parameters = {"node": holder.node, "instance": holder.instance, "silence": silence}
    row = connection.execute(_SAME_NAME, parameters).first()
    return (row.pid, row.instance) if row else None


def find_nodes(connection: Connection) -> list[NodeRecord]:
    return [NodeRecord(*row) for row in connection.execute(_LIST)]


def find_lost(connection: Connection, silence: timedelta) -> list[tuple[str, datetime]]:
    """List the nodes that were not stopped and sent no heartbeat for `silence`."""
    return [(row.name, row.heartbeat_at) for row in connection.execute(_LOST, {"silence": silence})]


def delete_silent(connection: Connection, after: timedelta) -> int:
    return connection.execute(_DELETE_SILENT, {"after": after}).rowcount
