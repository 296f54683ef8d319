// Bars beside numbers.
//
// A score's bar shows its share of the best score; where scores go below zero (logarithms), its place between the
// lowest and the highest that are shown. Knows nothing of what is counted.

import { h } from "./dom.js";

/** A function from scores to lengths of bars, 0 to 1. */
export function scale(scores) {
  const finite = scores.filter((x) => Number.isFinite(x));
  const low = Math.min(0, ...finite);
  const high = Math.max(...finite);
  if (low < 0) {
    const least = Math.min(...finite);
    return (x) => (!Number.isFinite(x) ? 0 : high > least ? 0.04 + (0.96 * (x - least)) / (high - least) : 1);
  }
  return (x) => (Number.isFinite(x) && high > 0 ? x / high : 0);
}

/** A bar of a share between 0 and 1. */
export function bar(share, negative = false) {
  const element = h("span", { class: negative ? "bar is-negative" : "bar", "aria-hidden": "true" });
  element.style.setProperty("--share", String(Math.max(0, Math.min(1, share))));
  return element;
}
