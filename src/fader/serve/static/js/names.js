// Types by their ids; answers give ids only. All that are wanted at the same moment are asked for in one request, each
// type once.
//
// A type that the service does not know keeps its id. A request that failed is forgotten, and made again when its types
// are wanted again. Knows nothing of where names are shown.

import { get } from "./api.js";

const MOST = 100; // ids that one request may name
const ROOM = 4000; // characters that they may have together, so that no address gets too long
const known = new Map();
const wanted = new Map();

/** What an id tells of the name of its type, until that is known: `head of state` of `head_of_state.1`. */
export function likelyName(id) {
  return id.replace(/\.\d+$/, "").replaceAll("_", " ");
}

/** The name of a type, sooner or later; its id where there is none. */
export async function typeName(id, index = "") {
  return (await found(id, index))?.name || id;
}

/** At most `most` types above a type, each right above the one after it; the first may have more above it. */
export async function typesAbove(type, index = "", most = 3) {
  const chain = [];
  let at = type;
  while (chain.length < most && at?.supertypes?.length) {
    at = await found(at.supertypes[0], index);
    if (at) chain.unshift(at);
  }
  return chain;
}

/** The type of an id, or null. */
function found(id, index) {
  const key = JSON.stringify([index, id]);
  if (!known.has(key)) known.set(key, new Promise((resolve) => want(index, id, { key, resolve })));
  return known.get(key);
}

function want(index, id, waiting) {
  if (wanted.size === 0) setTimeout(send);
  if (!wanted.has(index)) wanted.set(index, new Map());
  wanted.get(index).set(id, waiting);
}

function send() {
  const all = [...wanted];
  wanted.clear();
  for (const [index, waiting] of all) for (const ids of batches(waiting.keys())) answer(ids, index, waiting);
}

/** Ids in groups that one request can name. */
function batches(ids) {
  const made = [];
  let length = 0;
  for (const id of ids) {
    length += id.length + 1;
    if (made.length === 0 || length > ROOM || made.at(-1).length === MOST) {
      made.push([]);
      length = id.length + 1;
    }
    made.at(-1).push(id);
  }
  return made;
}

async function answer(ids, index, waiting) {
  const types = await get("/v1/types", { ids: ids.join("|"), index }).then(
    (page) => page.types,
    () => null,
  );
  const byId = new Map((types ?? []).map((type) => [type.id, type]));
  for (const id of ids) {
    const { key, resolve } = waiting.get(id);
    if (!types) known.delete(key);
    resolve(byId.get(id) ?? null);
  }
}
