"""The few files every page asks for: a picture and the script that builds JavaScript pages."""

import base64

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)

# Builds the same elements as a page from the server, by textContent only.
APP = b"""\
(async () => {
  const app = document.getElementById("app");
  const add = (parent, tag, attributes, text) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    if (text !== undefined && text !== null) node.textContent = text;
    return parent.appendChild(node);
  };
  const response = await fetch(app.dataset.api);
  if (!response.ok) {
    add(app, "h1", {}, "This listing is no longer available");
    return;
  }
  const item = await response.json();
  document.title = item.title + " | Bazaar";
  add(document.head, "script", { type: "application/ld+json" }, JSON.stringify(item.jsonld));
  const main = add(app, "main", {
    class: "item", "data-id": item.id, "data-category": item.category, "data-status": item.status,
  });
  add(main, "h1", { class: "item-title" }, item.title);
  const box = add(main, "section", { class: "buy-box" });
  if (item.price_text) {
    const line = add(box, "p", { class: "item-price" });
    if (item.old_price_text) add(line, "s", { class: "old-price" }, item.old_price_text);
    add(line, "strong", { class: "price" }, item.price_text);
  }
  const state = add(box, "p", { class: "item-state", "data-state": item.status }, item.state_text + " ");
  const sold_at = item.sold_at;
  if (sold_at) add(state, "time", { class: "sold-at", datetime: sold_at }, sold_at.slice(0, 10));
  if (item.status === "on_sale") add(box, "button", { class: "buy" }, "Buy now");
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
