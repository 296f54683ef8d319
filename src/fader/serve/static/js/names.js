// The names of types and of those above them; answers give ids. Asked for once each, a few at a time.
//
// A type that cannot be resolved keeps its id. Knows nothing of where names are shown.

import { get } from "./api.js";

const AT_ONCE = 4;
const known = new Map();
const waiting = [];
let running = 0;

/** The name of a type, sooner or later; its id where there is none. */
export async function typeName(id, index = "") {
  return (await found(id, index))?.parent?.name || id;
}

/** The types above a type, from a root on, as `{id, name}`; without the type itself. */
export async function typePath(id, index = "") {
  return ((await found(id, index))?.path ?? []).filter((node) => node.id !== id);
}

function found(id, index) {
  const key = JSON.stringify([index, id]);
  if (!known.has(key))
    known.set(
      key,
      queued(() => ask(id, index)),
    );
  return known.get(key);
}

/** Resolve when the names of all these types are known, or after `patience` ms. */
export function typeNames(ids, index = "", patience = 150) {
  const late = new Promise((resolve) => setTimeout(resolve, patience));
  return Promise.race([Promise.all([...new Set(ids)].map((id) => typeName(id, index))), late]);
}

function ask(id, index) {
  return get("/v1/types", { parent: id, limit: 1, index }).catch(() => null);
}

function queued(work) {
  return new Promise((resolve) => {
    waiting.push(() => work().then(resolve));
    next();
  });
}

function next() {
  if (running >= AT_ONCE || waiting.length === 0) return;
  running += 1;
  waiting
    .shift()()
    .finally(() => {
      running -= 1;
      next();
    });
}
