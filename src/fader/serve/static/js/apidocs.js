// The HTTP API as a page, made from /openapi.json: every route with its parameters, an example and a link that tries it.
//
// Knows the form of an OpenAPI document, and nothing of what the routes do.

import { address, get } from "./api.js";
import { announce, data, h, plural, visible } from "./dom.js";
import { exportLinks } from "./export.js";
import { load } from "./states.js";

const METHODS = ["get", "post", "put", "delete"];
const TITLES = new Map([
  ["ranking", "Search"],
  ["lookup", "Look up"],
  ["about", "About the service"],
  ["reports", "Reports"],
  ["default", "More"],
]);

export async function render(root, params, context) {
  const place = h("div", { class: "api" });
  root.append(h("h1", { class: "page-title", text: "HTTP API" }), place);
  await load(place, () => get("/openapi.json", {}, { signal: context.signal }), show);
  const target = document.getElementById(window.location.hash.slice(1));
  target?.scrollIntoView();
}

function show(spec) {
  const routes = routesOf(spec);
  announce(plural(routes.length, "route"));
  const groups = Map.groupBy ? Map.groupBy(routes, (route) => route.tag) : grouped(routes);
  return [
    h("p", { class: "lead" }, data(spec.info.description ?? "", 400)),
    h("p", {
      class: "small muted",
      text: `Fader ${spec.info.version}. All answers are JSON unless it says otherwise.`,
    }),
    contents(groups),
    [...groups].map(([tag, list]) =>
      h(
        "section",
        { class: "api-group" },
        h("h2", { text: titled(tag) }),
        list.map((route) => operation(route, spec)),
      ),
    ),
    errors(spec),
    exportLinks({ path: "/openapi.json", name: "openapi", csv: false }),
  ];
}

function grouped(routes) {
  const groups = new Map();
  for (const route of routes) groups.set(route.tag, [...(groups.get(route.tag) ?? []), route]);
  return groups;
}

function titled(tag) {
  return TITLES.get(tag) ?? tag.charAt(0).toUpperCase() + tag.slice(1);
}

function routesOf(spec) {
  return Object.entries(spec.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => methods[method]).map((method) => ({
      path,
      method,
      tag: methods[method].tags?.[0] ?? "default",
      ...methods[method],
      id: `${method}${path.replace(/[^a-z0-9]+/gi, "-")}`,
    })),
  );
}

function contents(groups) {
  const jump = (id) => (event) => {
    event.preventDefault();
    const target = document.getElementById(id);
    window.history.replaceState(window.history.state, "", `#${id}`);
    target?.scrollIntoView();
    target?.focus({ preventScroll: true });
  };
  const items = [...groups.values()]
    .flat()
    .map((route) =>
      h(
        "li",
        {},
        h(
          "a",
          { href: `#${route.id}`, on: { click: jump(route.id) } },
          method(route),
          " ",
          h("code", { text: route.path }),
        ),
      ),
    );
  return h("nav", { class: "api-contents", "aria-label": "Routes" }, h("ul", {}, items));
}

function method(route) {
  return h("span", { class: `api-method is-${route.method}`, text: route.method.toUpperCase() });
}

function operation(route, spec) {
  const parameters = (route.parameters ?? []).map((each) => resolved(each, spec));
  const body = route.requestBody?.content?.["application/json"];
  return h(
    "article",
    { class: "api-route" },
    h("h3", { id: route.id, tabindex: "-1", class: "api-path" }, method(route), " ", h("code", { text: route.path })),
    h(
      "p",
      {},
      h("strong", { text: route.summary ?? "" }),
      route.description && h("span", { class: "muted", text: ` ${route.description}` }),
    ),
    parameters.length > 0 && parameterTable(parameters, route),
    body &&
      h(
        "div",
        { class: "stack" },
        h("p", { class: "label", text: "Body" }),
        code(JSON.stringify(exampleOf(body), null, 1)),
      ),
    request(route, parameters, body),
    answer(route),
  );
}

function parameterTable(parameters, route) {
  const rows = parameters.map((p) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        h("code", { text: p.name }),
        p.required && h("span", { class: "api-required small", text: " required" }),
      ),
      h("td", { class: "small" }, kind(p.schema ?? {})),
      h("td", { class: "small", text: p.description ?? p.schema?.description ?? "" }),
    ),
  );
  return h(
    "div",
    { class: "table-scroll", tabindex: "0", role: "region", "aria-label": `Parameters of ${route.path}` },
    h(
      "table",
      { class: "table api-parameters" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Parameter", "Value", "Meaning"].map((text) => h("th", { scope: "col", text })),
        ),
      ),
      h("tbody", {}, rows),
    ),
  );
}

/** What a value may be, in a few words. */
function kind(schema) {
  const values = schema.enum ?? (schema.const !== undefined ? [schema.const] : null);
  const base = values
    ? values.join(" | ")
    : (schema.type ??
      schema.anyOf
        ?.map((each) => each.type)
        .filter((type) => type !== "null")
        .join(" | ") ??
      "any");
  const range = schema.maximum !== undefined ? `, ${schema.minimum ?? 0} to ${schema.maximum}` : "";
  const usual =
    schema.default !== undefined && schema.default !== null && schema.default !== ""
      ? `, default ${schema.default}`
      : "";
  return `${base}${range}${usual}`;
}

function resolved(value, spec) {
  if (!value?.$ref) return value;
  return (
    value.$ref
      .split("/")
      .slice(1)
      .reduce((at, key) => at?.[key], spec) ?? {}
  );
}

function exampleOf(part) {
  return part.example ?? Object.values(part.examples ?? {})[0]?.value ?? {};
}

/** A request to copy, and where it is a GET, a link that makes it. */
function request(route, parameters, body) {
  const value = (p) => p.example ?? p.schema?.examples?.[0] ?? p.schema?.example ?? p.schema?.default ?? "";
  const path = parameters
    .filter((p) => p.in === "path")
    .reduce(
      (at, p) => at.replace(new RegExp(`\\{${p.name}(:path)?\\}`), encodeURIComponent(value(p) || p.name)),
      route.path,
    );
  const asked = Object.fromEntries(
    parameters.filter((p) => p.in === "query" && p.required).map((p) => [p.name, value(p)]),
  );
  const target = address(path, asked);
  const whole = `${window.location.origin}${target}`;
  const command =
    route.method === "get"
      ? `curl '${whole.replaceAll("'", "%27")}'`
      : `curl -X ${route.method.toUpperCase()} '${whole}' -H 'Content-Type: application/json' -d '${JSON.stringify(body ? exampleOf(body) : {}).replaceAll("'", "'\\''")}'`;
  return h(
    "div",
    { class: "api-request" },
    code(command),
    route.method === "get" &&
      h(
        "a",
        { class: "button", href: target, target: "_blank", rel: "noopener", text: "Try it" },
        h("span", { class: "sr-only", text: `: ${route.path} (opens in a new tab)` }),
      ),
  );
}

function answer(route) {
  const found = route.responses?.["200"]?.content ?? {};
  const [type, part] = Object.entries(found)[0] ?? [];
  const example = part && (part.example ?? Object.values(part.examples ?? {})[0]?.value);
  const codes = Object.keys(route.responses ?? {}).filter((status) => status !== "200");
  return h(
    "details",
    { class: "api-answer" },
    h("summary", { text: "Answer" }),
    h("p", {
      class: "small muted",
      text: `${Object.keys(found).join(", ") || "no body"}${codes.length ? `; else ${codes.join(", ")}` : ""}`,
    }),
    example !== undefined && code(typeof example === "string" ? example : JSON.stringify(example, null, 1), type),
  );
}

function code(text) {
  return h(
    "pre",
    { class: "api-code", tabindex: "0" },
    h("code", {
      dir: "ltr",
      text: visible(text.slice(0, 20000).replaceAll("\n", "\u2424")).replaceAll("\u2424", "\n"),
    }),
  );
}

function errors(spec) {
  const error = spec.components?.schemas?.Error;
  if (!error) return null;
  const fields = Object.entries(error.properties?.error?.properties ?? {});
  return h(
    "section",
    { class: "api-group" },
    h("h2", { text: "Errors" }),
    h(
      "p",
      { class: "muted" },
      "Every error is ",
      h("code", { text: '{"error": {"code", "message", "hint"}}' }),
      " with the fitting status.",
    ),
    h(
      "dl",
      { class: "report-facts" },
      fields.map(([name, about]) => [
        h("dt", {}, h("code", { text: name })),
        h("dd", { text: about.description ?? "" }),
      ]),
    ),
  );
}
