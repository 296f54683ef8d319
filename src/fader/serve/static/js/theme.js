// Light, dark, or as the system has it: set before anything is drawn, so this is a plain script and no module.
// The choice is kept in localStorage; without it (or where storage is refused) the system decides.
"use strict";

(() => {
  const KEY = "fader-theme";
  const ORDER = ["auto", "light", "dark"];

  function kept() {
    try {
      const value = localStorage.getItem(KEY);
      return ORDER.includes(value) ? value : "auto";
    } catch {
      return "auto";
    }
  }

  function apply(theme) {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }

  function keep(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // The choice then holds for this visit.
    }
  }

  function dress(control, theme) {
    control.dataset.theme = theme;
    const next = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
    const names = { auto: "as the system has it", light: "light", dark: "dark" };
    control.setAttribute("aria-label", `Colours: ${names[theme]}. Change to ${names[next]}.`);
    control.title = `Colours: ${names[theme]}`;
  }

  apply(kept());
  document.addEventListener("DOMContentLoaded", () => {
    const control = document.getElementById("theme");
    dress(control, kept());
    control.addEventListener("click", () => {
      const theme = ORDER[(ORDER.indexOf(control.dataset.theme) + 1) % ORDER.length];
      keep(theme);
      apply(theme);
      dress(control, theme);
    });
  });
})();
