// Asking the service: JSON in, errors as ApiError. An API key, where one is asked for, lives in this tab only.
//
// Knows nothing of the page beyond the one dialog that asks for the key (key.js).

import { askForKey } from "./key.js";
import { given, link } from "./url.js";

const KEY = "fader-key";

/** What went wrong: an answer of the service, or none at all (`status` 0, `code` "offline"). */
export class ApiError extends Error {
  constructor(status, fields) {
    super(fields.message || `The service answered ${status}.`);
    this.name = "ApiError";
    this.status = status;
    this.code = fields.code || "unknown";
    this.hint = fields.hint || "";
    this.position = fields.position ?? null;
    this.field = fields.field ?? null;
    this.retryAfter = fields.retryAfter ?? null;
    this.requestId = fields.requestId ?? null;
  }
}

/** GET a path of the service as JSON. */
export async function get(path, params = {}, { signal } = {}) {
  const response = await request(path, params, signal);
  return response.json();
}

/** POST a JSON object to a path of the service. */
export async function post(path, body, { signal } = {}) {
  const response = await request(path, {}, signal, JSON.stringify(given(body)));
  return response.json();
}

/** GET a path of the service as text. */
export async function text(path, params = {}, { signal } = {}) {
  const response = await request(path, params, signal);
  return response.text();
}

/** GET a path and save the answer as a file; for whatever a plain link cannot reach because a key is needed. */
export async function download(path, params, filename) {
  const response = await request(path, params);
  const address = URL.createObjectURL(await response.blob());
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = filename;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Whether a key is in use, so that plain links to the service would be refused. */
export function hasKey() {
  return Boolean(sessionStorage.getItem(KEY));
}

/** The address of an answer of the service. */
export function address(path, params = {}) {
  return link(path, given(params));
}

async function request(path, params, signal, body) {
  for (;;) {
    const sent = sessionStorage.getItem(KEY);
    const response = await send(address(path, params), sent, signal, body);
    if (response.ok) return response;
    const error = await errorOf(response);
    if (response.status !== 401) throw error;
    const key = sessionStorage.getItem(KEY) !== sent ? sessionStorage.getItem(KEY) : await askForKey(Boolean(sent));
    if (!key) throw error;
    sessionStorage.setItem(KEY, key);
  }
}

async function send(target, key, signal, body) {
  const headers = { Accept: "application/json, text/csv" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers.Authorization = `Bearer ${key}`;
  try {
    return await fetch(target, { headers, signal, credentials: "omit", method: body === undefined ? "GET" : "POST", body });
  } catch (reason) {
    if (reason.name === "AbortError") throw reason;
    throw unreached();
  }
}

/** No answer at all. */
export function unreached() {
  return new ApiError(0, {
    code: "offline",
    message: "The service cannot be reached.",
    hint: "Check that it runs and that you are connected, then try again.",
  });
}

async function errorOf(response) {
  const fields = await response
    .json()
    .then((body) => body.error ?? {})
    .catch(() => ({}));
  const retryAfter = Number.parseFloat(response.headers.get("Retry-After"));
  return new ApiError(response.status, {
    ...fields,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
    requestId: response.headers.get("Fader-Request-Id"),
  });
}
