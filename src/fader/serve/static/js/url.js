// The address of what is shown: reading it, making links, going there. Every state of the page is in the URL.
//
// Parameters are plain objects of strings; those that are empty are left out of an address. A change of the address by
// `go` or by back and forward is told to whoever called `listen`. Knows nothing of what the parameters mean.

const listeners = new Set();

/** Where we are: `{path, params}`. */
export function read() {
  return { path: window.location.pathname, params: Object.fromEntries(new URLSearchParams(window.location.search)) };
}

/** The address of a path with parameters. */
export function link(path, params = {}) {
  const search = new URLSearchParams(given(params)).toString();
  return search ? `${path}?${search}` : path;
}

/** Parameters that have a value, as strings. */
export function given(params) {
  const kept = Object.entries(params ?? {}).filter(([, v]) => v !== undefined && v !== null && v !== "" && v !== false);
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

/** Go to an address: a new entry of the history, and the page is shown anew. */
export function go(path, params = {}) {
  const address = link(path, params);
  const same = address === window.location.pathname + window.location.search;
  window.history[same ? "replaceState" : "pushState"]({}, "", address);
  tell();
}

/** Change the address of what is already shown: no new entry, and nothing is shown anew. */
export function replace(params = {}) {
  window.history.replaceState(window.history.state, "", link(window.location.pathname, params));
}

/** Call a function whenever another address is to be shown. */
export function listen(listener) {
  listeners.add(listener);
}

function tell() {
  for (const listener of listeners) listener();
}

window.addEventListener("popstate", tell);
