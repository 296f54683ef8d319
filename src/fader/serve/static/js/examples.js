// Queries to begin with, made from the index itself: words that stand near entities of a type.
//
// The most popular entities of a type are asked for by name; in the snippets of the answer, a word is good for the type
// where it stands near several of them and near entities of few other types. So no list of stop words is needed, in any
// language. Knows /v1/suggest and /v1/search, nothing of how examples are shown.

import { get } from "./api.js";

const TYPES = 10; // that are asked for
const NAMED = 10; // entities of each that are asked for by name
const SEEN = 20; // entities of each that are looked at
const SNIPPETS = 12; // of an entity
const LEAST = 3; // entities that a word must stand near
const known = new Map();

/** Popular types, of which none stands above another. Those with many entities and few subtypes are the plain ones. */
export async function popularTypes(index, signal) {
  const plain = (type) => type.entities / (type.subtypes + 1);
  const types = await suggested({ kind: "type", limit: 100, index }, signal);
  return apart(types.toSorted((a, b) => plain(b) - plain(a)));
}

async function suggested(asked, signal) {
  return (await get("/v1/suggest", asked, { signal })).suggestions;
}

function apart(types) {
  const above = new Set();
  return types.filter((type) => {
    type.supertypes.forEach((id) => above.add(id));
    return !above.has(type.id);
  });
}

/** At most `most` examples {type, words}, the most telling first; none where the texts are too few. */
export async function examples(types, most, index, signal) {
  if (!known.has(index)) known.set(index, await made(types.slice(0, TYPES), index, signal));
  return known.get(index).slice(0, most);
}

async function made(types, index, signal) {
  const seen = [];
  for (const type of types) seen.push(await wordsNear(type, index, signal)); // one at a time: others ask too
  const found = seen
    .map((near) => ({ type: near.type, ...telling(near, seen) }))
    .filter(({ words }) => words.length > 0);
  const firsts = new Set();
  const different = ({ words: [first] }) => !firsts.has(first) && firsts.add(first);
  return found.sort((a, b) => b.worth - a.worth).filter(different);
}

/** {type, counts: Map from a word to the number of entities of the type that it stands near}. */
async function wordsNear(type, index, signal) {
  const counts = new Map();
  const entities = await suggested({ kind: "entity", type: type.id, limit: NAMED, index }, signal);
  const q = entities
    .map(
      ({ name }) =>
        `"${name
          .replace(/["\s]+/g, " ")
          .trim()
          .slice(0, 60)}"`,
    )
    .join(" ");
  const answer = q && (await answered({ q, type: type.id, k: SEEN, snippets: SNIPPETS, index }, signal));
  for (const { evidence } of answer?.results ?? [])
    for (const word of new Set(evidence.flatMap(around))) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { type, counts };
}

/** A type that cannot be asked for has no example; others may. */
async function answered(asked, signal) {
  try {
    return await get("/v1/search", asked, { signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return null;
  }
}

const ENDS = /[.!?…](?:\s|$)/u;
const PLAIN = /^[\p{Ll}\p{Lo}]{5,16}$/u; // no name, no number, nothing short

/** The plain words of the sentence that a mention stands in. */
function around({ snippet, mention: [from, to] }) {
  const points = Array.from(snippet);
  const before = points.slice(0, from).join("").split(ENDS).at(-1);
  const [after] = points.slice(to).join("").split(ENDS);
  const words = `${before} ${after}`.split(/\s+/).map((word) => word.replace(/[.,;:!?]+$/u, ""));
  return words.filter((word) => PLAIN.test(word));
}

/** The word that tells most of a type, with the next where it tells nearly as much. */
function telling({ type, counts }, seen) {
  const names = new Set(seen.flatMap((near) => wordsOf(near.type.name)));
  const stems = wordsOf(type.name).map((name) => name.slice(0, 3)); // "composed" is no news of a composer
  const asked = seen.filter((near) => near.counts.size > 0).length;
  const types = (word) => seen.filter((near) => near.counts.has(word)).length;
  const [first, next] = [...counts]
    .filter(([word, count]) => count >= LEAST && types(word) <= Math.max(1, asked / 4))
    .filter(([word]) => !names.has(word) && !stems.some((stem) => word.startsWith(stem)))
    .map(([word, count]) => ({ word, worth: count * Math.log((asked + 1) / types(word)) }))
    .sort((a, b) => b.worth - a.worth || (a.word < b.word ? -1 : 1));
  if (!first) return { words: [], worth: 0 };
  const words = [first, next].filter((each) => each?.worth > 0.6 * first.worth).map((each) => each.word);
  return { words, worth: first.worth };
}

function wordsOf(name) {
  return name.toLowerCase().split(/\s+/);
}
