// The dialog that asks for an API key. Knows nothing of what the key is for.

import { h, uid } from "./dom.js";

let open = null;

/** Ask for a key; resolves to it, or to null where none is given. Asked twice at once, one dialog serves both. */
export function askForKey(wasRefused) {
  const message = wasRefused
    ? "That key was refused. Give another."
    : "This service answers those who have a key. Its keeper gives them out.";
  open ??= ask(message).finally(() => (open = null));
  return open;
}

function ask(message) {
  const id = uid("key");
  const field = h("input", {
    id,
    class: "input",
    type: "password",
    autocomplete: "off",
    required: true,
    spellcheck: "false",
  });
  const form = h(
    "form",
    { method: "dialog", class: "stack" },
    h("h2", { class: "dialog-title", text: "An API key is needed" }),
    h("p", { class: "muted", text: message }),
    h("label", { class: "label", for: id, text: "Key" }),
    field,
    h("p", { class: "small muted", text: "It is kept in this tab until you close it." }),
    h(
      "div",
      { class: "row end" },
      h("button", { class: "button quiet", type: "button", text: "Cancel", on: { click: () => dialog.close("") } }),
      h("button", { class: "button primary", value: "use", text: "Use this key" }),
    ),
  );
  const dialog = h("dialog", { class: "dialog", "aria-label": "API key" }, form);
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "use" ? field.value.trim() : null);
    });
  });
}
