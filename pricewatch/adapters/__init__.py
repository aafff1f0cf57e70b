"""The per-site code, one module each, registered here by name. Adapters are pure: no database, no network."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from pricewatch.adapters.base import Adapter
from pricewatch.errors import UserError

# Explicit on purpose: what is not listed here does not run.
REGISTERED = {
    "apartments": "pricewatch.adapters.apartments:ApartmentsAdapter",
    "bazaar": "pricewatch.adapters.bazaar:BazaarAdapter",
    "generic": "pricewatch.adapters.generic:GenericAdapter",
    "mercari": "pricewatch.adapters.mercari:MercariAdapter",
    "sgammo": "pricewatch.adapters.sgammo:SgammoAdapter",
    "willhaben": "pricewatch.adapters.willhaben:WillhabenAdapter",
}


class UnknownAdapter(UserError, KeyError):
    """No adapter has this id."""

    def __str__(self) -> str:
        return str(self.args[0])


@cache
def get(adapter_id: str) -> Adapter:
    """The adapter with this id; adapters have no state, so one instance serves all."""
    try:
        module, _, name = REGISTERED[adapter_id].partition(":")
    except KeyError:
        raise UnknownAdapter(f"There is no adapter {adapter_id!r}. Known: {', '.join(known())}.") from None
    adapter: Adapter = getattr(import_module(module), name)()
    return adapter


def known() -> list[str]:
    return sorted(REGISTERED)


def for_domain(domain: str) -> str:
    """The adapter written for a domain, or the one that reads any shop."""
    for adapter_id in known():
        adapter = get(adapter_id)
        if adapter.domain == domain and adapter.has_product():
            return adapter_id
    return "generic"
