"""The rows of a new database: the sample marketplace, and 19 East Coast markets, which are disabled."""

from __future__ import annotations

from typing import Any

SAMPLE_PORT = 6880
SAMPLE_CATEGORIES = ("bikes", "cameras", "laptops", "furniture", "phones", "instruments", "toys", "rentals")

EAST_COAST = {
    "hot": "New York City NY, Boston MA, Washington DC, Philadelphia PA",
    "standard": "Pittsburgh PA, Baltimore MD, Newark NJ, Jersey City NJ, Cambridge MA, Arlington VA",
    "cool": "Bryn Mawr PA, Hoboken NJ, Stamford CT, New Haven CT, Providence RI, Richmond VA, Charlotte NC, "
    "Raleigh NC, Hartford CT",
}


def sources() -> list[dict[str, Any]]:
    return [
        {
            "id": "bazaar",
            "name": "Sample marketplace",
            "adapter_id": "bazaar",
            "domain": "127.0.0.1",
            "base_url": f"http://127.0.0.1:{SAMPLE_PORT}",
            "visibility": "VISIBLE",
            # It is part of pricewatch and runs on this machine, so it needs no approval and no delay.
            "tos_approved_by": "pricewatch",
            "requests_per_second": 1000,
            "min_delay_ms": 0,
            "max_concurrent": 16,
        },
        {
            "id": "apartments",
            "name": "Apartments.com",
            "adapter_id": "apartments",
            "domain": "apartments.com",
            "base_url": "https://www.apartments.com",
            "visibility": "INELIGIBLE",
            "tos_approved_by": None,
            "requests_per_second": None,
            "min_delay_ms": None,
            "max_concurrent": None,
        },
    ]


def markets() -> list[dict[str, Any]]:
    sample = [
        {
            "id": f"bazaar-{category}",
            "source_id": "bazaar",
            "display_name": f"Sample marketplace: {category}",
            "start_pages": [f"/c/{category}"],
            "city": None,
            "state": None,
            "tier": "hot" if category == "bikes" else "standard",
            "enabled": category == "bikes",
        }
        for category in SAMPLE_CATEGORIES
    ]
    cities = [
        {
            "id": f"{city}-{state}".lower().replace(" ", "-"),
            "source_id": "apartments",
            "display_name": f"{city}, {state}",
            "start_pages": [],
            "city": city,
            "state": state,
            "tier": tier,
            "enabled": False,
        }
        for tier, places in EAST_COAST.items()
        for city, _, state in (place.rpartition(" ") for place in places.split(", "))
    ]
    return sample + cities
