// A text field with a list of suggestions, by the ARIA 1.2 combobox pattern (list autocomplete, manual selection).
//
//   ArrowDown, ArrowUp   open the list, move in it        Enter    take the option moved to; else what the form does
//   Home, End            first, last option once in it    Escape   close the list; once closed, clear the field
//   Tab                  leave, taking nothing
//
// Focus stays in the field. `ask(text, signal)` gives the options, `{value, label, ...}`; `draw(option)` their insides.
// Knows nothing of what is suggested.

import { announce, button, fill, h, plural, uid } from "./dom.js";

const PATIENCE = 80;

/** Make a combobox: `{element, input, value(), set(value, label)}`; the value is the option taken, else the text. */
export function combobox({ id = uid("combobox"), placeholder = "", describedby, ask, draw, onChange = () => {} }) {
  const listId = `${id}-list`;
  const input = h("input", {
    id,
    class: "input",
    type: "text",
    role: "combobox",
    placeholder,
    maxlength: 2000,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    dir: "auto",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": listId,
    "aria-describedby": describedby,
  });
  const list = h("ul", {
    id: listId,
    class: "combobox-list",
    role: "listbox",
    "aria-label": "Suggestions",
    hidden: true,
  });
  const clear = button("", () => (set("", ""), input.focus(), onChange()), {
    class: "combobox-clear icon-button",
    picture: "close",
    "aria-label": "Clear the field",
    hidden: true,
  });
  const element = h("div", { class: "combobox" }, input, clear, list);
  const state = { options: [], at: -1, chosen: null, abort: null, timer: null };

  function value() {
    return state.chosen && state.chosen.label === input.value ? state.chosen.value : input.value.trim();
  }

  function set(newValue, label = newValue) {
    input.value = label;
    state.chosen = newValue ? { value: newValue, label: input.value } : null;
    clear.hidden = !input.value;
    close();
  }

  function close() {
    clearTimeout(state.timer);
    state.abort?.abort();
    state.at = -1;
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  async function open(at = -1) {
    state.abort?.abort();
    const abort = (state.abort = new AbortController());
    const text = state.chosen && state.chosen.label === input.value ? "" : input.value.trim();
    const options = await ask(text, abort.signal).catch(() => []);
    if (abort.signal.aborted || document.activeElement !== input) return;
    state.options = options;
    fill(list, options.map(row));
    const none = options.length === 0;
    list.hidden = none;
    input.setAttribute("aria-expanded", String(!none));
    announce(none ? "No suggestions" : plural(options.length, "suggestion"));
    move(Math.min(at, options.length - 1));
  }

  function row(option, i) {
    return h(
      "li",
      {
        id: `${listId}-${i}`,
        class: "combobox-option",
        role: "option",
        "aria-selected": "false",
        on: { mousedown: (event) => event.preventDefault(), click: () => take(option) },
      },
      draw(option),
    );
  }

  function move(at) {
    list.children[state.at]?.setAttribute("aria-selected", "false");
    state.at = at;
    const current = list.children[at];
    if (!current) return input.removeAttribute("aria-activedescendant");
    current.setAttribute("aria-selected", "true");
    current.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", current.id);
  }

  function take(option) {
    set(option.value, option.label);
    onChange();
  }

  function step(by) {
    if (list.hidden) return open(by > 0 ? 0 : Number.MAX_SAFE_INTEGER);
    const n = state.options.length;
    move(state.at < 0 ? (by > 0 ? 0 : n - 1) : (state.at + by + n) % n);
  }

  const keys = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Home: () => state.at >= 0 && (move(0), true),
    End: () => state.at >= 0 && (move(state.options.length - 1), true),
    Enter: () => state.at >= 0 && (take(state.options[state.at]), true),
    Escape: () => (list.hidden ? Boolean(input.value) && (set("", ""), true) : (close(), true)),
  };

  input.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return;
    if (keys[event.key] && keys[event.key]() !== false) event.preventDefault();
  });
  input.addEventListener("input", () => {
    clear.hidden = !input.value;
    clearTimeout(state.timer);
    state.timer = setTimeout(open, PATIENCE);
  });
  input.addEventListener("click", () => list.hidden && open());
  input.addEventListener("blur", close);
  return { element, input, value, set };
}
