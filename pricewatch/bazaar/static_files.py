"""Static files: a picture, and the scripts of pages.

Texts of sellers are added with `textContent` only; HTML comes from the server and contains none.
"""

import base64

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)

# Adds price, stock and button to a page that has everything else.
OFFER_SCRIPT = b"""\
(async () => {
  const box = document.querySelector("[data-offer]");
  const response = await fetch(box.dataset.offer);
  if (response.ok) box.innerHTML = (await response.json()).buy_box;
})();
"""

# Builds the same elements as a page rendered by the server.
APP_SCRIPT = b"""\
(async () => {
  const app = document.querySelector("[data-api]");
  let names = {};
  const add = (parent, tag, attributes, text) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
      node.setAttribute(name, name === "class" ? names[value] || value : value);
    if (text !== undefined && text !== null) node.textContent = text;
    return parent.appendChild(node);
  };
  const response = await fetch(app.dataset.api);
  if (!response.ok) {
    add(app, "h1", {}, "This listing is no longer available");
    return;
  }
  const item = await response.json();
  names = item.names;
  document.title = item.title + " | Bazaar";
  if (item.jsonld) add(document.head, "script", { type: "application/ld+json" }, JSON.stringify(item.jsonld));
  const main = add(app, "main", {
    class: "item", "data-id": item.id, "data-category": item.category, "data-status": item.status,
  });
  add(main, "h1", { class: "item-title" }, item.title);
  const box = add(main, "section", { class: "buy-box" });
  box.innerHTML = item.buy_box;
  const description = add(main, "section", { class: "description" });
  for (const text of item.description) add(description, "p", {}, text);
  const attributes = add(main, "dl", { class: "attributes" });
  for (const [name, value] of item.attributes) {
    add(attributes, "dt", {}, name);
    add(attributes, "dd", {}, value);
  }
  const sold_by = add(main, "section", { class: "seller-box" }, "Sold by ");
  add(sold_by, "a", {
    class: "seller", href: "/seller/" + item.seller.id,
    "data-seller-id": item.seller.id, "data-seller-type": item.seller.type,
  }, item.seller.name);
  add(sold_by, "span", { class: "city" }, item.location);
  add(main, "time", { class: "listed-at", datetime: item.listed_at }, item.listed_at.slice(0, 10));
  const related = add(app, "section", { class: "related" });
  for (const other of item.related) {
    const row = add(related, "li", { class: "related-item" }, other.title + " ");
    add(row, "span", { class: "related-price" }, other.price_text);
  }
})();
"""

# Builds the pages of the mercari skin from its JSON.
MERCARI_SCRIPT = """\
(async () => {
  const app = document.getElementById("app");
  const add = (parent, tag, attributes, text) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    if (text) node.textContent = text;
    return parent.appendChild(node);
  };
  const price = (parent, attributes, text) => {
    const tag = add(parent, "span", attributes);
    add(tag, "span", {}, text.slice(0, 1));
    add(tag, "span", {}, text.slice(1));
  };
  const cell = (parent, item) => {
    const box = add(parent, "li", { "data-testid": "item-cell" });
    const path = item.itemType === "ITEM_TYPE_BEYOND" ? "/shops/product/" : "/item/";
    const link = add(box, "a", { href: path + item.id });
    const figure = add(link, "figure");
    add(figure, "img", { src: item.thumbnails[0], alt: item.name + "のサムネイル" });
    if (item.status === "ITEM_STATUS_SOLD_OUT")
      add(figure, "div", { "data-testid": "thumbnail-sticker", "aria-label": "売り切れ" });
    if (item.priceText) price(link, { class: "merPrice" }, item.priceText);
  };
  const main = add(app, "main");
  if (location.pathname === "/search") {
    const asked = new URLSearchParams(location.search);
    const answer = await fetch("/v2/entities:search", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        keyword: asked.get("keyword"), categoryId: asked.get("category_id"), status: asked.get("status"),
        priceMin: asked.get("price_min"), priceMax: asked.get("price_max"),
        pageToken: asked.get("page_token"),
      }),
    });
    const found = await answer.json();
    const grid = add(main, "ul", { id: "item-grid" });
    for (const item of found.items) cell(grid, item);
    if (found.meta.nextPageToken) add(main, "div", { "data-testid": "pagination-next-button" }, "次へ");
    return;
  }
  const id = location.pathname.split("/").pop();
  const where = location.pathname.startsWith("/shops/") ? "/shops/products/get?id=" : "/items/get?id=";
  const item = (await (await fetch(where + encodeURIComponent(id))).json()).data;
  if (!item) {
    add(main, "p", {}, "該当する商品は削除されています。");
    return;
  }
  document.title = item.name + " - メルカリ";
  add(main, "h1", {}, item.name);
  if (item.priceText) price(main, { "data-testid": "price" }, item.priceText);
  const words = { on_sale: "購入手続きへ", trading: "取引中", sold_out: "売り切れました" };
  add(main, "div", { "data-testid": "checkout-button" }, words[item.status]);
  add(main, "p", {}, item.description);
  const related = add(add(main, "section"), "ul");
  for (const other of item.related) cell(related, other);
})();
""".encode()
