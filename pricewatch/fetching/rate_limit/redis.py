"""The limiter backend in Redis or Valkey: the same steps as in PostgreSQL, each one script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from pricewatch.fetching.rate_limit.backend import Refusal, outcome
from pricewatch.rules.request_budget import Limit

PREFIX = "pricewatch:rate_limit"
ANSWER_SECONDS = 5.0
# The state of a domain without requests is deleted after this time.
EXPIRE_SECONDS = 24 * 60 * 60

_CLOCK = """
local state, leases = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local function text(number) return string.format('%.6f', number) end
local function get(name) return tonumber(redis.call('HGET', state, name) or '0') end
local function set_expiry()
  for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, ARGV[1]) end
end
"""
# A time beyond the longest possible reservation shows that the clock was set back.
_RESERVE = """
local ticket, interval, concurrent, max_wait, lease =
  ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local furthest = now + max_wait + interval
local free_at = math.max(now, get('next'), get('last') + interval)
if free_at > furthest then free_at = now end
redis.call('ZREMRANGEBYSCORE', leases, '-inf', text(now))
redis.call('ZREMRANGEBYSCORE', leases, text(furthest + lease), '+inf')
local is_granted = redis.call('ZCARD', leases) < concurrent and free_at <= now + max_wait
local last = math.min(get('last'), free_at)
if is_granted then
  redis.call('ZADD', leases, text(free_at + lease), ticket)
  last = free_at
  free_at = free_at + interval
end
redis.call('HSET', state, 'last', text(last), 'next', text(free_at))
set_expiry()
return {is_granted and 1 or 0, text(free_at - now)}
"""
_RELEASE = "redis.call('ZREM', leases, ARGV[2])"
_RENEW = """
for n = 3, #ARGV do
  redis.call('ZADD', leases, 'XX', text(now + tonumber(ARGV[2])), ARGV[n])
end
"""
_HOLD = """
redis.call('HSET', state, 'next', text(math.max(get('next'), now + tonumber(ARGV[2]))))
set_expiry()
"""
_SCRIPTS = {"reserve": _RESERVE, "release": _RELEASE, "renew": _RENEW, "hold": _HOLD}


class RedisBackend:
    def __init__(self, url: str):
        self._client = redis.Redis.from_url(
            url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS
        )
        self._scripts = {name: self._client.register_script(_CLOCK + body) for name, body in _SCRIPTS.items()}

    def reserve(
        self, domain: str, ticket: str, limit: Limit, *, max_wait: float, lease: float
    ) -> float | Refusal:
        limits = (limit.interval, limit.concurrent, max_wait)
        has_slot, until_next = self._run("reserve", domain, ticket, *limits, lease)
        return outcome(has_slot=bool(has_slot), until_next=float(until_next), limit=limit, max_wait=max_wait)

    def release(self, domain: str, ticket: str) -> None:
        self._run("release", domain, ticket)

    def renew(self, domain: str, tickets: Sequence[str], *, lease: float) -> None:
        self._run("renew", domain, lease, *tickets)

    def hold(self, domain: str, seconds: float) -> None:
        self._run("hold", domain, seconds)

    def close(self) -> None:
        self._client.close()

    def _run(self, name: str, domain: str, *arguments: str | float) -> Any:
        # The braces keep both keys of a domain on one node of a cluster.
        keys = [f"{PREFIX}:{{{domain}}}:{part}" for part in ("state", "leases")]
        try:
            return self._scripts[name](keys=keys, args=[EXPIRE_SECONDS, *arguments])
        except (RedisConnectionError, RedisTimeoutError) as error:
            raise ConnectionError(f"Redis is unavailable ({type(error).__name__})") from error
        except RedisError as error:
            if str(error).startswith(("LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN")):
                raise ConnectionError(f"Redis is unavailable ({error})") from error
            raise
