// What is shown in the place of content: while it loads, where there is none, where something went wrong.
//
// Knows errors of api.js by their codes, and nothing of any one view.

import { announce, button, data, fill, h, icon, number, visible } from "./dom.js";

const SLOW = 400;
const LATE = 1000;

/** Grey lines in the shape of what will come: `n` blocks of a heading and two lines. */
export function skeleton(n = 3) {
  const block = () => h("div", { class: "skeleton-block" }, ...["short", "", "long"].map(line));
  return h("div", { class: "skeleton", "aria-hidden": "true" }, Array.from({ length: n }, block));
}

function line(width) {
  return h("div", { class: `skeleton-line ${width}` });
}

/**
 * Show that `promise` is awaited in `element`; resolves and rejects as it does.
 * What the element already shows is dimmed and stays, so that nothing jumps; an empty element gets the skeleton.
 * After 400 ms a notice appears, after 1 s it says the time budget (`budget`, in ms) where there is one.
 */
export async function withProgress(element, promise, { placeholder = skeleton(), budget = null } = {}) {
  const notice = h("p", { class: "notice-slow", role: "status" });
  element.setAttribute("aria-busy", "true");
  if (!element.firstElementChild) element.append(placeholder);
  element.prepend(notice);
  const timers = [
    setTimeout(() => fill(notice, spinner(), "Still working …"), SLOW),
    setTimeout(() => fill(notice, spinner(), late(budget)), LATE),
  ];
  try {
    return await promise;
  } finally {
    timers.forEach(clearTimeout);
    notice.remove();
    placeholder.remove();
    element.removeAttribute("aria-busy");
  }
}

function late(budget) {
  if (!budget) return "This takes longer than usual. It goes on until the service gives up.";
  return `This takes longer than usual. The service gives up after ${number(budget / 1000)} s of work on a query.`;
}

function spinner() {
  return h("span", { class: "spinner", "aria-hidden": "true" });
}

/**
 * Run `work()`, show its progress in `element`, then what `show(value)` returns, or what went wrong with a way to try
 * again. An abort leaves the element alone. `links` may be a function of the error that gives more nodes to show.
 */
export async function load(element, work, show, { links = () => [], placeholder, budget, tried = false } = {}) {
  const retry = () => load(element, work, show, { links, placeholder, budget, tried: true });
  try {
    const value = await withProgress(element, work(), { placeholder, budget });
    fill(element, await show(value));
  } catch (error) {
    if (error.name === "AbortError") return;
    fill(element, failure(error, { retry, tried, links: links(error) }));
  }
}

/** Nothing to show: why, and what to try; a title only where nothing above says it. */
export function empty(title, reasons = [], tries = []) {
  return h(
    "section",
    { class: "state" },
    title && h("h2", { class: "state-title", text: title }),
    reasons.map((reason) => h("p", { class: "state-text" }, reason)),
    tries.length > 0 && h("p", { class: "state-label", text: "What to try" }),
    tries.length > 0 &&
      h(
        "ul",
        { class: "state-list" },
        tries.map((t) => h("li", {}, t)),
      ),
  );
}

const TITLES = new Map([
  ["bad_query", "This query cannot be read"],
  ["bad_request", "This cannot be asked"],
  ["unauthorized", "An API key is needed"],
  ["not_found", "There is nothing of that name"],
  ["too_large", "This is too long"],
  ["rate_limited", "Too many requests"],
  ["overloaded", "The service is busy"],
  ["out_of_time", "The query took too long"],
  ["internal", "The service has failed"],
  ["offline", "No connection to the service"],
]);

/**
 * Something went wrong: what, why, and how to go on. `retry` tries again; where that was done before (`tried`), only
 * the button does it, so that a page left open does not burden a service that has too much to do.
 */
export function failure(error, { retry = null, tried = false, links = [], title: given } = {}) {
  const known = error.status !== undefined;
  if (!known) console.error(error);
  const title =
    given ?? (known ? (TITLES.get(error.code) ?? `The service answered ${error.status}`) : "The page has failed");
  const waits = retry && !tried && error.retryAfter;
  announce(`${title}. ${error.message}`);
  return h(
    "section",
    { class: "state is-error", role: "group", "aria-label": title },
    h("h2", { class: "state-title" }, icon("warning"), title),
    h("p", { class: "state-text" }, data(sentence(error.message), 600)),
    forPeople(error.hint) && !waits && links.length === 0 && h("p", { class: "state-text" }, data(sentence(error.hint), 600)),
    links.length > 0 && h("div", { class: "row wrap" }, links),
    retry && again(waits ? error.retryAfter : null, retry),
    error.requestId &&
      error.code === "internal" &&
      h("p", { class: "small muted", text: `Request ${visible(error.requestId)}` }),
  );
}

/** Whether a hint says something to people: paths of the interface are for programs. */
function forPeople(hint) {
  return Boolean(hint) && !hint.includes("/v1/");
}

/** A message of the service as a sentence. */
export function sentence(text) {
  const trimmed = String(text ?? "").trim();
  const first = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.?!…]$/.test(first) ? first : first + ".";
}

/** The button that tries again; where it is worth waiting, it counts the seconds down and then tries by itself. */
function again(seconds, retry) {
  let timer = null;
  const stop = () => clearInterval(timer);
  const row = h(
    "div",
    { class: "row" },
    button("Try again", () => (stop(), retry()), { class: "button" }),
  );
  if (!seconds) return row;
  const note = h("span", { class: "muted", "aria-hidden": "true" });
  let left = Math.max(1, Math.ceil(seconds));
  let shown = false;
  const tick = () => {
    if (shown && !row.isConnected) return stop();
    shown = row.isConnected;
    note.textContent = `Trying again in ${left} s`;
    if (left <= 0) return (stop(), retry());
    left -= 1;
  };
  tick();
  timer = setInterval(tick, 1000);
  const cancel = button("Cancel", () => (stop(), note.remove(), cancel.remove()), { class: "button quiet" });
  row.append(note, cancel);
  return row;
}
