// The button "Why this rank" and the panel that it opens; a page shows one such panel at a time.
//
// Knows when to ask /v1/explain and what to do while it is awaited; why.js draws the answer.

import { get } from "./api.js";
import { announce, button, fill, h, icon } from "./dom.js";
import { failure, withProgress } from "./states.js";
import { whyPanel } from "./why.js";

/**
 * {button, panel, open()} for what `asked` says: q, entity, type, model, index. `reveal(place, evidence)` shows a
 * context, `onChange(open, byHand)` is told of every change; `shown` is the rank among the answers to a question.
 */
export function explained({ asked, budget, signal, reveal, shown = null, onChange = () => {} }) {
  const panel = h("section", { class: "why", hidden: true });
  const toggle = button(["Why this rank", icon("down")], () => (panel.hidden ? open() : close()), {
    class: "button quiet result-why",
    "aria-expanded": "false",
  });

  async function open(byHand = true) {
    for (const other of document.querySelectorAll(".why:not([hidden])")) if (other !== panel) other.close?.();
    set(true, byHand);
    if (panel.childElementCount === 0) await ask();
  }

  function close(byHand = true) {
    set(false, byHand);
    if (byHand) toggle.focus();
  }

  function set(shown, byHand) {
    panel.hidden = !shown;
    toggle.setAttribute("aria-expanded", String(shown));
    onChange(shown, byHand);
  }

  async function ask(tried = false) {
    try {
      const why = await withProgress(panel, get("/v1/explain", asked, { signal }), { budget });
      fill(panel, closer(close), whyPanel(why, { reveal: (place) => reveal(place, why.evidence), shown }));
      panel.setAttribute("aria-label", `Why rank ${why.rank}`);
      announce("Explanation shown");
    } catch (error) {
      if (error.name === "AbortError") return panel.replaceChildren();
      fill(panel, failure(error, { retry: () => (panel.replaceChildren(), ask(true)), tried }));
    }
  }

  panel.close = () => close(false);
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) close();
  });
  return { button: toggle, panel, open };
}

function closer(close) {
  return button("", () => close(), {
    class: "icon-button why-close",
    picture: "close",
    "aria-label": "Close the explanation",
  });
}

/** Bring a snippet into view, and light it up for a moment. */
export function light(snippet) {
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  snippet.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
  snippet.focus({ preventScroll: true });
  snippet.classList.remove("is-found");
  void snippet.offsetWidth;
  snippet.classList.add("is-found");
}
