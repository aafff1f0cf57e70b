"use strict";
/* Small conveniences. Every page works without them. */

/* The theme follows the system until the person chooses one. */
for (const button of document.querySelectorAll("[data-theme-toggle]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)");
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
  });
}

for (const button of document.querySelectorAll("[data-menu]")) {
  button.addEventListener("click", () => {
    const open = button.closest(".side").classList.toggle("open");
    button.setAttribute("aria-expanded", String(open));
  });
}

/* Refresh fragments only while the page is visible and nothing inside them has the focus. */
async function refresh(part) {
  const busy = part.contains(document.activeElement) && document.activeElement !== part;
  if (!document.hidden && !busy) {
    try {
      const answer = await fetch(part.dataset.refresh, { headers: { "X-Fragment": "1" }, cache: "no-store" });
      if (answer.redirected) {
        location.reload();
        return;
      }
      if (answer.ok) {
        const text = await answer.text();
        if (text !== part.dataset.last) {
          part.innerHTML = text;
          part.dataset.last = text;
        }
        if (part.querySelector("[data-ended]") && part.dataset.ends) {
          location.reload();
          return;
        }
        document.body.classList.remove("offline");
      }
    } catch {
      document.body.classList.add("offline");
    }
  }
  setTimeout(refresh, Number(part.dataset.every || 2000), part);
}
for (const part of document.querySelectorAll("[data-refresh]")) {
  setTimeout(refresh, 1000, part);
}

/* Submit a form when a choice changes. */
for (const field of document.querySelectorAll("[data-submit]")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}

/* A typed password can be shown. */
for (const field of document.querySelectorAll("input[type=password]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "tight reveal";
  button.textContent = "Show";
  button.setAttribute("aria-label", "Show what is typed");
  button.addEventListener("click", () => {
    const shown = field.type === "password";
    field.type = shown ? "text" : "password";
    button.textContent = shown ? "Hide" : "Show";
    button.setAttribute("aria-label", shown ? "Hide what is typed" : "Show what is typed");
  });
  (field.closest("label") || field).after(button);
}

/* Show on the button that a slow form was sent. */
for (const form of document.querySelectorAll("form[data-busy]")) {
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (button && button.dataset.quick === undefined) {
      setTimeout(() => {
        button.disabled = true;
        button.textContent = form.dataset.busy;
      });
    }
  });
}

for (const button of document.querySelectorAll("[data-confirm]")) {
  button.addEventListener("click", (event) => {
    if (!confirm(button.dataset.confirm)) event.preventDefault();
  });
}

for (const box of document.querySelectorAll("[data-all]")) {
  box.addEventListener("change", () => {
    for (const other of box.closest("form").querySelectorAll('input[name="id"]')) other.checked = box.checked;
  });
}

/* The unit of a rule's threshold depends on the kind of the rule. */
for (const kind of document.querySelectorAll("select[data-kind]")) {
  const show = () => {
    const unit = kind.selectedOptions[0].dataset.unit || "";
    const field = kind.form.querySelector("[data-threshold]");
    field.hidden = !unit;
    field.querySelector("[data-unit]").textContent = unit;
    field.querySelector("input").required = Boolean(unit);
    const currency = kind.form.querySelector("[data-currency]");
    if (currency) currency.hidden = kind.value !== "price_at_or_below";
  };
  kind.addEventListener("change", show);
  show();
}

/* A click on the fetched page puts a selector into the field that had the focus last. */
const frame = document.querySelector("iframe[data-picker]");
if (frame) {
  const fields = [...document.querySelectorAll("input[data-selector]")];
  let focused = fields[0];
  for (const field of fields) {
    field.addEventListener("focus", () => {
      focused = field;
    });
  }
  const ready = () => {
    const page = frame.contentDocument;
    if (!page || !page.body) return;
    let pointed = null;
    const leave = () => {
      if (pointed) {
        pointed.classList.remove("pricewatch-pointed");
        if (!pointed.className) pointed.removeAttribute("class");
      }
      pointed = null;
    };
    page.addEventListener("mouseover", (event) => {
      leave();
      if (event.target !== page.body && event.target !== page.documentElement) {
        pointed = event.target;
        pointed.classList.add("pricewatch-pointed");
      }
    });
    page.addEventListener("click", (event) => {
      event.preventDefault();
      const chosen = event.target;
      leave();
      focused.value = selectorOf(chosen, page);
      focused.dispatchEvent(new Event("input", { bubbles: true }));
      const text = chosen.textContent.trim().slice(0, 80);
      document.querySelector("[data-picked]").textContent = `${focused.dataset.selector}: “${text}”`;
    });
  };
  frame.addEventListener("load", ready);
  if (frame.contentDocument && frame.contentDocument.readyState === "complete") ready();
}

/* The shortest path of ids, classes and names that matches only this element. */
function selectorOf(element, page) {
  const steps = [];
  for (let node = element; node && node !== page.body; node = node.parentElement) {
    if (node.id && page.querySelectorAll(`#${CSS.escape(node.id)}`).length === 1) {
      steps.unshift(`#${CSS.escape(node.id)}`);
      break;
    }
    const names = [...node.classList].slice(0, 2).map((name) => `.${CSS.escape(name)}`).join("");
    /* Links and buttons are shown as spans, so their real tag names are unknown here. */
    let step = node.localName === "span" ? names || "*" : node.localName + names;
    const prop = node.getAttribute("itemprop");
    if (!names && prop) step = `[itemprop="${CSS.escape(prop)}"]`;
    steps.unshift(step);
    const found = page.querySelectorAll(steps.join(" > "));
    if (found.length === 1) break;
  }
  return steps.join(" > ");
}

/* The key `/` moves the focus to the search field. */
document.addEventListener("keydown", (event) => {
  const typing = /^(input|select|textarea)$/i.test(event.target.localName);
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !typing) {
    const field = document.querySelector("[data-search]");
    if (field) {
      event.preventDefault();
      field.focus();
    }
  }
});
