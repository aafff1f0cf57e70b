"""The daemons of the cluster: who is there, and who has not been heard of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from pricewatch.store.queues.job_queue import QueuePlace

_JOIN = text("""
INSERT INTO nodes (name, instance, url, pid, slots) VALUES (:node, :instance, :url, :pid, :slots)
ON CONFLICT (name) DO UPDATE SET instance = :instance, url = :url, pid = :pid, slots = :slots,
    started_at = now(), heartbeat_at = now(), stopped_at = NULL
""")
_BEAT = text(
    "UPDATE nodes SET heartbeat_at = now(), stopped_at = NULL WHERE name = :node AND instance = :instance"
)
_LEAVE = text("UPDATE nodes SET stopped_at = now() WHERE name = :node AND instance = :instance")
_NAMESAKE = text("""
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
_FORGET = text("DELETE FROM nodes WHERE heartbeat_at < now() - :after")


@dataclass(frozen=True, slots=True)
class NodeRecord:
    name: str
    url: str | None
    slots: int
    started_at: datetime
    heartbeat_at: datetime
    stopped_at: datetime | None
    running: int


def join(connection: Connection, place: QueuePlace, *, url: str | None, pid: int, slots: int) -> None:
    connection.execute(
        _JOIN,
        {"node": place.node, "instance": place.instance, "url": url, "pid": pid, "slots": slots},
    )


def beat(connection: Connection, place: QueuePlace) -> bool:
    """A sign of life; False where another process has taken this node's name."""
    given = {"node": place.node, "instance": place.instance}
    return connection.execute(_BEAT, given).rowcount == 1


def leave(connection: Connection, place: QueuePlace) -> None:
    connection.execute(_LEAVE, {"node": place.node, "instance": place.instance})


def namesake(connection: Connection, place: QueuePlace, silence: timedelta) -> tuple[int, str] | None:
    """Process and instance of another daemon that goes by the same name and was heard of just now."""
    given = {"node": place.node, "instance": place.instance, "silence": silence}
    row = connection.execute(_NAMESAKE, given).first()
    return (row.pid, row.instance) if row else None


def listed(connection: Connection) -> list[NodeRecord]:
    return [NodeRecord(*row) for row in connection.execute(_LIST)]


def lost(connection: Connection, silence: timedelta) -> list[tuple[str, datetime]]:
    """Nodes that neither left nor were heard of."""
    return [(row.name, row.heartbeat_at) for row in connection.execute(_LOST, {"silence": silence})]


def forget(connection: Connection, after: timedelta) -> int:
    return connection.execute(_FORGET, {"after": after}).rowcount
