// What is shown, to take away: as JSON, as CSV, as an address.
//
// A cell of a CSV that a spreadsheet would take for a formula gets a leading apostrophe. Knows nothing of what is in
// the tables.

import { address, download, hasKey } from "./api.js";
import { announce, button, h } from "./dom.js";

/**
 * Links for what is shown: `path` and `params` are those of the request that gave it. CSV is the same request with
 * format=csv, or where `csv` is a function, a file of the rows that it returns; `csv: false` leaves it out.
 */
export function exportLinks({ path, params = {}, name = "fader", csv = true }) {
  const parts = [
    path && served("JSON", path, params, `${name}.json`),
    csv === true && served("CSV", path, { ...params, format: "csv" }, `${name}.csv`),
    typeof csv === "function" &&
      button("CSV", () => save(`${name}.csv`, csvText(csv()), "text/csv"), { class: "button quiet" }),
    button("Copy link", copyAddress, { class: "button quiet", picture: "link" }),
  ];
  return h("div", { class: "export row wrap", role: "group", "aria-label": "Take away" }, parts);
}

/** A link to an answer or a file of the service; where a key is in use a plain link would be refused. */
export function served(label, path, params, filename, props = {}) {
  const { class: names = "button quiet", ...rest } = props;
  if (hasKey()) return button(label, () => download(path, params, filename), { class: names, ...rest });
  const saves = params.format === "csv" || /\/files\//.test(path);
  return h("a", { class: names, href: address(path, params), download: saves ? filename : undefined, ...rest }, label);
}

async function copyAddress(event) {
  const label = event.currentTarget.lastChild;
  try {
    await navigator.clipboard.writeText(window.location.href);
    label.textContent = "Link copied";
    announce("Link copied");
  } catch {
    label.textContent = "Copy it from the address bar";
  }
  setTimeout(() => (label.textContent = "Copy link"), 2500);
}

/** Rows of cells (texts, numbers, lists of them, null) as CSV by RFC 4180, as the service writes it. */
export function csvText(rows) {
  return rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
}

function cell(value) {
  const text = harmless(Array.isArray(value) ? value.join("|") : (value ?? ""));
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** As the service does: blanks and invisible characters before the sign do not hide it. */
function harmless(value) {
  if (typeof value === "number") return String(value);
  const text = String(value);
  return /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n\v\f\u0085\u2028\u2029]/u.test(text)
    ? `'${text}`
    : text;
}

/** Save a text as a file. */
export function save(name, text, type) {
  const target = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const anchor = h("a", { href: target, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(target), 1000);
}
