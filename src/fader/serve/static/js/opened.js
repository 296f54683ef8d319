// Whose evidence is opened, and how far, as it stands in an address: `more=ID:COUNT,ID:COUNT`.
//
// Ids are escaped, so that they can hold colons and commas; a count that is missing or none is 0, which means a little
// more than what is shown anyway. Knows nothing of what is opened.

const MOST = 1000; // contexts that are opened from an address

/** A text of an address as a map from ids to how many contexts are shown of each. */
export function opened(text) {
  const entries = (text ?? "").split(",").filter(Boolean).map(entry);
  return new Map(entries);
}

function entry(text) {
  const [, id, count] = /^(.*?)(?::(\d+))?$/s.exec(text);
  return [unescaped(id), Math.min(MOST, Number(count ?? 0))];
}

function unescaped(id) {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** Such a map as the text of an address. */
export function written(counts) {
  return [...counts].map(([id, count]) => `${encodeURIComponent(id)}:${count}`).join(",");
}
