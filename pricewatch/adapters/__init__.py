"""The per-site code: one module each, registered here by name, or one file each where nothing but selectors
is needed (`shop_files.py` says where those lie). Adapters are pure: no database, no network."""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module

from pricewatch.adapters.base import Adapter
from pricewatch.declared_shops import shop_files
from pricewatch.errors import UserError

logger = logging.getLogger(__name__)

SAMPLE = "bazaar"
# Explicit on purpose: what is not listed here does not run.
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
    """The adapter with this id; adapters have no state, so one instance serves all."""
    if adapter_id in REGISTERED:
        return _registered(adapter_id)
    declared = shop_files.files(REGISTERED)
    if adapter_id not in declared:
        raise UnknownAdapter(f"There is no adapter {adapter_id!r}. Known: {', '.join(known())}.")
    return shop_files.adapter(declared[adapter_id])


@cache
def _registered(adapter_id: str) -> Adapter:
    module, _, name = REGISTERED[adapter_id].partition(":")
    adapter: Adapter = getattr(import_module(module), name)()
    return adapter


def known() -> list[str]:
    return sorted({*REGISTERED, *shop_files.files(REGISTERED)})


def for_new_source(domain: str) -> str:
    """The adapter of a source that is not known yet: the sample marketplace always is."""
    found = for_domain(domain)
    return "generic" if found == SAMPLE else found


def for_domain(domain: str) -> str:
    """The adapter written for a domain, or the one that reads any shop."""
    fitting = [adapter_id for adapter_id in known() if _reads_products_of(adapter_id, domain)]
    # A shop's own file comes first; the sample marketplace last, for it takes this whole machine.
    return min(fitting, key=lambda one: (one == SAMPLE, one in REGISTERED), default="generic")


def _reads_products_of(adapter_id: str, domain: str) -> bool:
    try:
        adapter = get(adapter_id)
    except UserError as error:
        # Another shop's broken file is no reason to turn this one away.
        logger.warning("%s", error)
        return False
    return adapter.domain == domain and adapter.has_product()
