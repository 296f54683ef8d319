// Which view shows which address. A view is a module with `render(root, params, context)`; it may return a function
// that is called when its view is left.
//
// `root` is empty when `render` is called, unless the module exports `keeps = true` and was shown before: then it finds
// what it left there. `context`: {stats, systems, index, path, signal}; `signal` aborts when another address is shown.
// Knows no view from within.

import * as apidocs from "./apidocs.js";
import * as api from "./api.js";
import * as compare from "./compare.js";
import * as document_ from "./document.js";
import { fill } from "./dom.js";
import * as entity from "./entity.js";
import * as learn from "./learn.js";
import { opening } from "./opening.js";
import * as report from "./report.js";
import * as search from "./search.js";
import { failure, skeleton } from "./states.js";
import * as types from "./types.js";
import * as url from "./url.js";

const VIEWS = [
  { path: /^\/$/, title: "Search", nav: "/", module: search },
  { path: /^\/compare$/, title: "Compare", nav: "/compare", module: compare },
  { path: /^\/types$/, title: "Types", nav: "/types", module: types },
  { path: /^\/entity$/, title: "Entity", nav: "/", module: entity },
  { path: /^\/learn$/, title: "Learn", nav: "/learn", module: learn },
  { path: /^\/document$/, title: "Document", nav: "/", module: document_ },
  { path: /^\/reports(\/[^/]+)?$/, title: "Reports", nav: "/reports", module: report },
  { path: /^\/api$/, title: "API", nav: "/api", module: apidocs },
];

const root = document.getElementById("view");
const shown = { view: null, leave: null, abort: null };
const loaded = { stats: opening?.stats ?? null, systems: new Map(opening ? [["", opening.systems]] : []) };

function viewOf(path) {
  return VIEWS.find((view) => view.path.test(path)) ?? VIEWS[0];
}

async function show(tried = false) {
  const { path, params } = url.read();
  const view = viewOf(path);
  shown.abort?.abort();
  const abort = (shown.abort = new AbortController());
  const waiting = setTimeout(() => !abort.signal.aborted && shown.view !== view && fill(root, skeleton(4)), 150);
  try {
    const context = await contextOf(params, path, abort.signal);
    if (abort.signal.aborted) return;
    enter(view);
    shown.leave = (await view.module.render(root, params, context)) ?? null;
  } catch (error) {
    if (error.name === "AbortError" || abort.signal.aborted) return;
    shown.view = null;
    fill(root, failure(error, { retry: () => show(true), tried }));
  } finally {
    clearTimeout(waiting);
  }
}

/** Clear the place for a view, unless it is the one that is there and keeps what it has. */
function enter(view) {
  if (typeof shown.leave === "function") shown.leave();
  shown.leave = null;
  const stays = shown.view === view && view.module.keeps;
  if (!stays) {
    root.replaceChildren();
    root.className = "view";
  }
  if (shown.view && shown.view !== view) root.focus({ preventScroll: true });
  if (shown.view !== view) {
    document.title = `${view.title} · Fader`;
    window.scrollTo(0, 0);
  }
  shown.view = view;
  document.getElementById("learn").hidden = !loaded.stats?.judging;
  for (const anchor of document.querySelectorAll(".nav a")) {
    if (anchor.getAttribute("href") === view.nav) {
      anchor.setAttribute("aria-current", "page");
      const nav = anchor.parentElement; // which scrolls on a narrow screen
      nav.scrollLeft = Math.max(0, anchor.offsetLeft + anchor.offsetWidth - nav.offsetLeft - nav.clientWidth);
    } else anchor.removeAttribute("aria-current");
  }
}

async function contextOf(params, path, signal) {
  const index = params.index ?? "";
  const [stats, systems] = await Promise.all([
    loaded.stats ?? api.get("/v1/stats"),
    loaded.systems.get(index) ?? systemsOf(index),
  ]);
  loaded.stats = stats;
  loaded.systems.set(index, systems);
  return { stats: loaded.stats, systems: loaded.systems.get(index), index, path, signal };
}

/** An index that is not there is the error of the view that asks it, not of the frame. */
async function systemsOf(index) {
  try {
    return await api.get("/v1/systems", { index });
  } catch (error) {
    if (error.status !== 404) throw error;
    return api.get("/v1/systems");
  }
}

/** Links to pages of ours are followed here; with a modifier, or to elsewhere, by the browser. */
function follow(event) {
  const anchor = event.target.closest?.("a[href]");
  if (!anchor || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (anchor.target || anchor.hasAttribute("download") || anchor.origin !== window.location.origin) return;
  if (anchor.hash && anchor.pathname === window.location.pathname) return;
  if (!VIEWS.some((view) => view.path.test(anchor.pathname))) return;
  event.preventDefault();
  url.go(anchor.pathname, Object.fromEntries(new URLSearchParams(anchor.search)));
}

/** `/` goes to the field marked data-key="/" unless something is being typed. */
function hotkey(event) {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("input, textarea, select, dialog, [contenteditable]")) return;
  const field = document.querySelector("[data-key='/']");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select?.();
}

document.addEventListener("click", follow);
document.addEventListener("keydown", hotkey);
url.listen(() => show());
show();
