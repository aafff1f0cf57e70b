"use strict";
/* Before anything is painted: the theme that this person chose, if any. */
(() => {
  const chosen = localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
})();
