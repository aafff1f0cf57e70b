"""Products: the listings of one product on several sources, side by side."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.services.notifications import channels
from pricewatch.store.views import admin_listings, product_list
from pricewatch.web.form_fields import Before, Id
from pricewatch.web.request_context import Context

router = APIRouter()
MOST = 50


@router.get("/products")
def list_page(context: Context, q: str = "", before: Before = None) -> Response:
    text = q.replace("\x00", "").strip()[:200]
    with context.read() as connection:
        rows = product_list.products(
            connection,
            title_query=text or None,
            before_id=before,
            most=MOST + 1,
        )
        more = rows[MOST - 1].id if len(rows) > MOST else None
        return context.render(connection, "products.html", rows=rows[:MOST], more=more, q=q)


@router.get("/products/{product_id}")
def detail_page(context: Context, product_id: Id) -> Response:
    with context.read() as connection:
        product = product_list.product(connection, product_id)
        if product is None:
            raise HTTPException(404, f"There is no product {product_id}.")
        offers = product_list.offers(connection, product_id, context.now)
        return context.render(
            connection,
            "product.html",
            product=product,
            offers=offers,
            sparks=admin_listings.sparkline_points(
                connection, [offer["id"] for offer in offers], context.now
            ),
            channels=sorted(channels()),
        )
