"use strict";
/* Apply the theme that this person chose before the page is painted. */
(() => {
  const chosen = localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") {
    document.documentElement.dataset.theme = chosen;
  }
})();
