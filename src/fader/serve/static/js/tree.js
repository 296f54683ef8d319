// A tree by the ARIA pattern whose branches are asked for when they are opened.
//
//   ArrowDown, ArrowUp     next, previous that is shown     Home, End   first, last
//   ArrowRight             open; once open, its first child  Enter, Space   choose
//   ArrowLeft              close; once closed, its parent    a letter   next whose name begins so
//
// One item is in the order of Tab at a time. A node is {id, label, children: how many}; `children(id | null, offset)`
// gives {total, nodes}; `draw(node)` the insides of a row. A branch with many children ends with an item that asks for
// more. The row is the item, and owns the list of its children that stands beside it, so that its name is its own text.
// Knows nothing of what the nodes are.

import { announce, h, icon, number, plural, uid } from "./dom.js";

/** {element, start(), reveal(ids from a root)}. */
export function tree({ label, children, draw, onChoose }) {
  const element = h("ul", { class: "tree", role: "tree", "aria-label": label });
  const known = new WeakMap();
  let current = null;

  // Making rows

  async function start() {
    const { total, nodes } = await children(null, 0);
    append(element, nodes, total, null, 1);
    settle(rowsOf(element)[0]);
    for (let only = rowsOf(element); only.length === 1 && known.get(only[0]).node.children > 0; ) {
      await open(only[0]);
      only = groupOf(only[0]) ? rowsOf(groupOf(only[0])) : [];
    }
    return total;
  }

  function rowsOf(list) {
    return [...list.children].map((entry) => entry.firstElementChild);
  }

  function append(list, nodes, total, parent, level) {
    const before = list.children.length;
    nodes.forEach((node, i) =>
      list.append(h("li", { role: "none" }, branch(node, parent, level, before + i + 1, total))),
    );
    if (list.children.length < total && nodes.length)
      list.append(h("li", { role: "none" }, rest(list, parent, level, total)));
  }

  function row(level, place, total, names, inside) {
    const made = h(
      "div",
      {
        class: `tree-row ${names}`,
        role: "treeitem",
        tabindex: "-1",
        "aria-level": level,
        "aria-posinset": place,
        "aria-setsize": total,
        "aria-selected": "false",
      },
      inside,
    );
    made.style.setProperty("--level", level - 1);
    return made;
  }

  function branch(node, parent, level, place, total) {
    const opens = node.children > 0;
    const made = row(level, place, total, "", [
      h("span", { class: "tree-sign", "aria-hidden": "true" }, opens && icon("right")),
      draw(node),
    ]);
    if (opens) made.setAttribute("aria-expanded", "false");
    known.set(made, { node, parent, level });
    made.addEventListener("click", (event) => {
      settle(made, true);
      if (event.target.closest(".tree-sign") && opens) return toggle(made);
      choose(made);
    });
    return made;
  }

  function rest(list, parent, level, total) {
    const shown = list.children.length;
    const made = row(level, shown + 1, total, "tree-more", [
      h("span", { class: "tree-sign", "aria-hidden": "true" }),
      `Show more (${number(total - shown)} left)`,
    ]);
    const more = async () => {
      const { nodes } = await children(parent ? known.get(parent).node.id : null, shown);
      made.parentElement.remove();
      append(list, nodes, total, parent, level);
      settle(rowsOf(list)[shown], made === current);
    };
    known.set(made, { node: { id: null, label: "Show more", children: 0 }, parent, level, more });
    made.addEventListener("click", () => (settle(made), more()));
    return made;
  }

  // Opening and choosing

  function groupOf(made) {
    return made.nextElementSibling;
  }

  function isOpen(made) {
    return made.getAttribute("aria-expanded") === "true";
  }

  async function open(made) {
    const { node, level } = known.get(made);
    if (!node.children || isOpen(made)) return;
    made.setAttribute("aria-expanded", "true");
    if (groupOf(made)) return void (groupOf(made).hidden = false);
    const group = h("ul", { role: "group", id: uid("group") });
    made.after(group);
    made.setAttribute("aria-owns", group.id);
    made.setAttribute("aria-busy", "true");
    try {
      const { total, nodes } = await children(node.id, 0);
      append(group, nodes, total, made, level + 1);
      announce(`${node.label}: ${plural(total, "item")}`);
    } catch (error) {
      group.remove();
      made.removeAttribute("aria-owns");
      made.setAttribute("aria-expanded", "false");
      announce(`Cannot be opened: ${error.message}`);
    } finally {
      made.removeAttribute("aria-busy");
    }
  }

  function close(made) {
    const group = groupOf(made);
    made.setAttribute("aria-expanded", "false");
    if (!group) return;
    const inside = group.contains(current);
    const focused = group.contains(document.activeElement);
    group.hidden = true;
    if (inside) settle(made, focused);
  }

  function toggle(made) {
    return isOpen(made) ? close(made) : open(made);
  }

  function select(made) {
    for (const other of element.querySelectorAll("[aria-selected=true]")) other.setAttribute("aria-selected", "false");
    made.setAttribute("aria-selected", "true");
  }

  function choose(made) {
    const { node, more } = known.get(made);
    if (more) return more();
    select(made);
    open(made);
    onChoose(node);
  }

  /** Make a row the one that Tab goes to. */
  function settle(made, focus = false) {
    if (!made) return;
    current?.setAttribute("tabindex", "-1");
    current = made;
    current.setAttribute("tabindex", "0");
    if (focus) current.focus();
  }

  /** Open the way down to a node and mark it as chosen; asks for more children where it is not among them. */
  async function reveal(ids) {
    let list = element;
    let found = null;
    for (const [depth, id] of ids.entries()) {
      found = await among(list, id);
      if (!found) return;
      if (depth === ids.length - 1) break;
      await open(found);
      list = groupOf(found);
      if (!list) return;
    }
    select(found);
    settle(found, element.contains(document.activeElement));
    centre(found);
  }

  /** Scroll the tree, never the page. */
  function centre(made) {
    const [frame, place] = [element.getBoundingClientRect(), made.getBoundingClientRect()];
    if (place.top < frame.top || place.bottom > frame.bottom)
      element.scrollTop += place.top - frame.top - frame.height / 2;
  }

  async function among(list, id) {
    for (;;) {
      const rows = rowsOf(list);
      const found = rows.find((made) => known.get(made).node.id === id);
      const more = rows.length && known.get(rows.at(-1)).more;
      if (found || !more) return found ?? null;
      await more();
    }
  }

  // Keys

  function shown() {
    return [...element.querySelectorAll("[role=treeitem]")].filter((made) => !made.closest("[role=group][hidden]"));
  }

  function step(by) {
    const all = shown();
    settle(all[Math.min(all.length - 1, Math.max(0, all.indexOf(current) + by))], true);
  }

  function letter(key) {
    const all = shown();
    const from = all.indexOf(current) + 1;
    const begins = (made) => known.get(made).node.label.toLowerCase().startsWith(key.toLowerCase());
    settle([...all.slice(from), ...all.slice(0, from)].find(begins), true);
  }

  const keys = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Home: () => settle(shown()[0], true),
    End: () => settle(shown().at(-1), true),
    ArrowRight: () => (isOpen(current) ? settle(rowsOf(groupOf(current))[0], true) : open(current)),
    ArrowLeft: () => (isOpen(current) ? close(current) : settle(known.get(current).parent, true)),
    Enter: () => choose(current),
    " ": () => choose(current),
  };

  element.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !current) return;
    if (keys[event.key]) keys[event.key]();
    else if (event.key.length === 1 && event.key !== "/") letter(event.key);
    else return;
    event.preventDefault();
  });

  return { element, start, reveal };
}
