"""The script that builds the pages of jp.mercari.com from its data, by textContent only."""

SCRIPT = """\
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
