"""Adapters: the code that is specific to one site, one module each, registered here by name.

Sites that need only selectors are TOML files in `declared_shops`. Adapters are pure: no database, no network.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module

from pricewatch.adapters.base import Adapter
from pricewatch.declared_shops import shop_files
from pricewatch.errors import UserError

logger = logging.getLogger(__name__)

SAMPLE_ADAPTER = "bazaar"
# Only adapters in this table run.
REGISTERED = {
    "apartments": "pricewatch.adapters.apartments:ApartmentsAdapter",
    "bazaar": "pricewatch.adapters.bazaar:BazaarAdapter",
    "generic": "pricewatch.generic_reader.adapter:GenericAdapter",
    "mercari": "pricewatch.adapters.mercari:MercariAdapter",
    "sgammo": "pricewatch.adapters.sgammo:SgammoAdapter",
    "willhaben": "pricewatch.adapters.willhaben:WillhabenAdapter",
}


class UnknownAdapter(UserError, KeyError):
    """No adapter has this id."""

    def __str__(self) -> str:
        return str(self.args[0])


def get(adapter_id: str) -> Adapter:
    """The adapter with this id; adapters have no state, so one instance is shared."""
    if adapter_id in REGISTERED:
        return _registered(adapter_id)
    declared = shop_files.find_files(REGISTERED)
    if adapter_id not in declared:
        raise UnknownAdapter(f"There is no adapter {adapter_id!r}. Known: {', '.join(known())}.")
    return shop_files.load_adapter(declared[adapter_id])


@cache
def _registered(adapter_id: str) -> Adapter:
    module, _, name = REGISTERED[adapter_id].partition(":")
    adapter: Adapter = getattr(import_module(module), name)()
    return adapter


def known() -> list[str]:
    return sorted({*REGISTERED, *shop_files.find_files(REGISTERED)})


def for_new_source(domain: str) -> str:
    """The adapter of a new source; never the sample marketplace's, whose source always exists."""
    found = for_domain(domain)
    return "generic" if found == SAMPLE_ADAPTER else found


def for_domain(domain: str) -> str:
    """The adapter written for a domain, or else `generic`, which reads any shop."""
    matching = [adapter_id for adapter_id in known() if _reads_products_of(adapter_id, domain)]
    # A declared shop takes precedence; the sample marketplace comes last, because it claims all of 127.0.0.1.
    return min(matching, key=lambda one: (one == SAMPLE_ADAPTER, one in REGISTERED), default="generic")


def _reads_products_of(adapter_id: str, domain: str) -> bool:
    try:
        adapter = get(adapter_id)
    except UserError as error:
        # A broken file of another shop must not block this domain.
        logger.warning("%s", error)
        return False
    return adapter.domain == domain and adapter.has_product()
