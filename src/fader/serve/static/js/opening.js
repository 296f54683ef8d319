// What the service wrote into the document, so that the page need not ask for it: {stats, systems, examples} of the first
// index; null where a key is needed.

const text = document.getElementById("opening")?.textContent;

export const opening = text ? JSON.parse(text) : null;
