// Judging an answer: right, partly or wrong; by mouse, or by the keys r, p and w while something of the answer has focus.
//
// The same judgment again takes it back. Knows /v1/judge and /v1/judgments; nothing of how answers are found.

import { get, post } from "./api.js";
import { announce, button, h } from "./dom.js";
import { failure } from "./states.js";

const GRADES = [
  ["right", "Right", "r", "check"],
  ["partly", "Partly", "p", null],
  ["wrong", "Wrong", "w", "close"],
];

/** What the asker has judged of a question before: a map from entity to grade. */
export async function judgedBefore(question, index, signal) {
  const found = await get("/v1/judgments", { q: question, index }, { signal }).catch(() => null);
  return new Map((found?.mine ?? []).map(({ entity, grade }) => [entity, grade]));
}

/** The three buttons of an answer; `asked` is {q, query, type, index, entity}, `host` is the element that listens. */
export function judgeButtons(asked, grade, host) {
  const state = { grade: grade ?? "none" };
  const group = h("div", { class: "judge", role: "group", "aria-label": "Is this a good answer?" });
  const buttons = GRADES.map(([value, label, key, picture]) =>
    button(label, () => judge(value), {
      class: `button quiet judge-button is-${value}`,
      picture: picture ?? undefined,
      "aria-keyshortcuts": key,
      title: `${label} (key ${key})`,
    }),
  );
  group.append(...buttons);

  function show() {
    GRADES.forEach(([value], i) => buttons[i].setAttribute("aria-pressed", String(state.grade === value)));
  }

  async function judge(value) {
    const wanted = state.grade === value ? "none" : value;
    const before = state.grade;
    state.grade = wanted;
    show();
    try {
      await post("/v1/judge", { ...asked, grade: wanted });
      group.nextElementSibling?.matches(".state") && group.nextElementSibling.remove();
      announce(wanted === "none" ? "Judgment taken back" : `Judged: ${wanted}`);
      document.dispatchEvent(new CustomEvent("judged"));
    } catch (error) {
      state.grade = before;
      show();
      group.after(failure(error, { retry: () => judge(value) }));
    }
  }

  host.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, .why")) return;
    const grade = GRADES.find(([, , key]) => key === event.key.toLowerCase());
    if (!grade) return;
    event.preventDefault();
    judge(grade[0]);
  });
  show();
  return group;
}
