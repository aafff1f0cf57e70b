"""Selectors for the rendered pages of jp.mercari.com, in the format of a declared shop."""

from __future__ import annotations

PAGE = {
    "domain": "mercari.com",
    "currency": "JPY",
    "pages": "?page_token=v1:{index}",
    "overview": {
        "card": "[data-testid=item-cell]",
        "next": "[data-testid=pagination-next-button]",
        "url": "a[href*='/item/']::attr(href), a[href*='/shops/product/']::attr(href)",
        "id": {"css": "a::attr(href)", "pattern": r"/(?:item|shops/product)/([\w-]+)"},
        "title": [
            "[data-testid=thumbnail-item-name]",
            {"css": "img::attr(alt)", "pattern": "^(.+?)(?:の(?:サムネイル|画像))?$"},
        ],
        "price": ".merPrice, [data-testid=price]",
        "image": "img::attr(src)",
        "sold": [
            {"css": "[data-testid*=sticker]::attr(aria-label)", "pattern": "(?i)sold|売り切れ"},
            {"css": "[data-testid*=sticker] ::attr(alt)", "pattern": "(?i)sold|売り切れ"},
            {"css": "[data-testid*=sticker]", "pattern": "(?i)sold|売り切れ"},
        ],
    },
    "product": {
        # Only on pages that also have a price or a checkout button.
        "title": "main:has([data-testid=price]) h1, main:has([data-testid=checkout-button]) h1",
        "price": "main [data-testid=price]",
        "price_again": "meta[property='product:price:amount']::attr(content)",
        "availability": "main [data-testid=checkout-button]",
        "gone": {
            "css": "main h1, main h2, main p",
            "pattern": "^(?:該当する)?商品[はが].*(?:削除|存在しません|見つかりません)",
        },
    },
    "words": {
        "売り切れ": "SOLD",
        "sold": "SOLD",
        "取引中": "OUT_OF_STOCK",
        "購入": "IN_STOCK",
        "buy": "IN_STOCK",
    },
}
