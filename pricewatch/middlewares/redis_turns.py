"""The book of turns in Redis: the same steps as in PostgreSQL, each one script, by the server's own clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from pricewatch.rules.request_budget import Grant, Limit

PREFIX = "pricewatch:turns"
ANSWER_SECONDS = 5.0
# A domain that nobody asked for this long is forgotten.
KEPT_SECONDS = 24 * 60 * 60

_CLOCK = """
local clock = redis.call('TIME')
local now = tonumber(clock[1]) + tonumber(clock[2]) / 1000000
local state, begins, ends = KEYS[1], KEYS[2], KEYS[3]
local over = redis.call('ZRANGEBYSCORE', ends, '-inf', now)
for _, ticket in ipairs(over) do
  redis.call('ZREM', begins, ticket)
  redis.call('ZREM', ends, ticket)
end
local function text(number) return string.format('%.6f', number) end
local function keep()
  for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, ARGV[1]) end
end
"""

_RESERVE = """
local gap, concurrent, horizon, lease, ahead =
  tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local last = tonumber(redis.call('HGET', state, 'last') or '0')
local turn = tonumber(redis.call('HGET', state, 'next') or '0')
if turn > now + horizon + gap then
  last = now - gap
  turn = now
end
turn = math.max(now + ahead, turn, last + gap)
local before = redis.call('ZCARD', begins)
local grants = {}
for n = 7, #ARGV do
  if turn - now > horizon then break end
  grants[#grants + 1] = {ARGV[n], text(turn - now), before < concurrent and 1 or 0, text(now)}
  redis.call('ZADD', begins, text(turn), ARGV[n])
  redis.call('ZADD', ends, text(turn + lease), ARGV[n])
  last = turn
  turn = turn + gap
  before = before + 1
end
redis.call('HSET', state, 'last', text(last), 'next', text(turn))
keep()
return grants
"""

_CONFIRM = """
local ticket, concurrent, lease = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local ahead = redis.call('ZRANK', begins, ticket)
if ahead and ahead < concurrent then
  redis.call('ZADD', ends, text(now + lease), ticket)
  return 1
end
redis.call('ZREM', begins, ticket)
redis.call('ZREM', ends, ticket)
return 0
"""

_RELEASE = """
for n = 2, #ARGV do
  redis.call('ZREM', begins, ARGV[n])
  redis.call('ZREM', ends, ARGV[n])
end
return 0
"""

_RENEW = """
for n = 3, #ARGV do
  redis.call('ZADD', ends, 'XX', text(now + tonumber(ARGV[2])), ARGV[n])
end
return 0
"""

_HOLD = """
local turn = tonumber(redis.call('HGET', state, 'next') or '0')
redis.call('HSET', state, 'next', text(math.max(turn, now + tonumber(ARGV[2]))))
keep()
return 0
"""


class RedisTurns:
    """Keeps the turns of all processes in one Redis; works with Valkey as well."""

    def __init__(self, url: str):
        client = redis.Redis.from_url(
            url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS
        )
        self._client = client
        self._scripts = {
            name: client.register_script(_CLOCK + body)
            for name, body in {
                "reserve": _RESERVE,
                "confirm": _CONFIRM,
                "release": _RELEASE,
                "renew": _RENEW,
                "hold": _HOLD,
            }.items()
        }

    def reserve(
        self,
        domain: str,
        tickets: Sequence[str],
        limit: Limit,
        *,
        horizon: float,
        lease: float,
        ahead: float = 0.0,
    ) -> list[Grant]:
        values = (limit.interval, limit.concurrent, horizon, lease, ahead)
        grants = self._step("reserve", domain, *values, *tickets)
        return [
            Grant(ticket.decode(), float(wait), bool(sure), float(now)) for ticket, wait, sure, now in grants
        ]

    def confirm(self, domain: str, ticket: str, limit: Limit, *, lease: float) -> bool:
        return bool(self._step("confirm", domain, ticket, limit.concurrent, lease))

    def release(self, domain: str, tickets: Sequence[str]) -> None:
        self._step("release", domain, *tickets)

    def renew(self, domain: str, tickets: Sequence[str], *, lease: float) -> None:
        self._step("renew", domain, lease, *tickets)

    def hold(self, domain: str, seconds: float) -> None:
        self._step("hold", domain, seconds)

    def close(self) -> None:
        self._client.close()

    def _step(self, name: str, domain: str, *arguments: str | float) -> Any:
        # The braces keep the three keys of a domain on one node of a cluster.
        keys = [f"{PREFIX}:{{{domain}}}:{part}" for part in ("state", "begins", "ends")]
        try:
            return self._scripts[name](keys=keys, args=[KEPT_SECONDS, *arguments])
        except (RedisConnectionError, RedisTimeoutError) as error:
            raise ConnectionError(f"Redis is away ({type(error).__name__})") from error
        except RedisError as error:
            if str(error).startswith(("LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN")):
                raise ConnectionError(f"Redis is away ({error})") from error
            raise
