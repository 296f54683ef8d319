// Learning from judgments: how much was judged, training with its progress, old against new, and who ranks; and the
// answers that are worth judging next.
//
// Knows /v1/judgments, /v1/train and /v1/propose; nothing of how answers are found.

import { get, post } from "./api.js";
import { announce, button, data, fill, h, number, plural } from "./dom.js";
import { judgeButtons } from "./judge.js";
import { opening } from "./opening.js";
import { failure, load } from "./states.js";
import { link } from "./url.js";

const SOON = 700;
const SHOWN = 10;
const EXAMPLES = 3;

export async function render(root, params, context) {
  const { index, signal, stats } = context;
  const parts = ["judged", "training", "next"].map((name) => h("section", { class: `learn-${name}` }));
  fill(
    root,
    h("h1", { class: "page-title", text: "Learn from judgments" }),
    h("p", {
      class: "lead",
      text: "Say of answers whether they are right. A model learns from that, and is compared with the one that ranks now.",
    }),
    parts,
  );
  if (!stats.judging) {
    fill(parts[0], h("p", { class: "muted", text: "Judging is off here. It is turned on where the service is started." }));
    return null;
  }
  const [judged, training, next] = parts;
  const room = { index, signal, judged, training, next };
  await Promise.all([showJudged(room).then(() => showTraining(room)), showNext(room)]);
  const again = async () => {
    const none = room.judgments === 0;
    await showJudged(room);
    if (none) await showTraining(room);
  };
  document.addEventListener("judged", again);
  return () => document.removeEventListener("judged", again);
}

async function showJudged(room) {
  const { judged, index, signal } = room;
  await load(
    judged,
    () => get("/v1/judgments", { index }, { signal }),
    ({ judgments, questions, people }) => {
      room.judgments = judgments;
      if (judgments === 0) return firstSteps(index);
      return h(
        "p",
        { class: "learn-count" },
        h("strong", { text: plural(judgments, "judgment") }),
        ` of ${plural(questions, "question")} by ${plural(people, "person", "people")}`,
      );
    },
  );
}

/** What to do where nothing was judged yet. */
function firstSteps(index) {
  const questions = (opening?.examples.examples ?? []).slice(0, EXAMPLES);
  return [
    h(
      "ol",
      { class: "learn-steps" },
      step("Ask", "a question whose answers you know."),
      step("Judge", "its answers: right, partly or wrong, with the mouse or the keys r, p and w."),
      step("Train", "here when a few questions are judged, and look at what got better before you adopt it."),
    ),
    !index &&
      questions.length > 0 && [
        h("p", { class: "small muted", text: "To begin with:" }),
        h(
          "ul",
          { class: "chips" },
          questions.map(({ q }) => h("li", {}, h("a", { class: "chip", href: link("/", { q }) }, data(q, 120)))),
        ),
      ],
  ];
}

function step(name, text) {
  return h("li", {}, h("div", {}, h("strong", { text: name }), ` ${text}`));
}

// ---- training ----

async function showTraining(room) {
  const { training, index, signal } = room;
  await load(
    training,
    () => get("/v1/train", { index }, { signal }),
    (state) => stateOf(state, room),
  );
}

function stateOf(state, room) {
  if (state.state === "running") setTimeout(() => !room.signal.aborted && follow(room), SOON);
  return [
    h("h2", { text: "Train on your judgments" }),
    state.state === "running" ? progress(state) : begin(state, room),
    state.state === "failed" && h("p", { class: "warning" }, data(sentenceOf(state.error), 400)),
    state.state !== "running" && state.report && comparison(state, room),
  ];
}

function sentenceOf(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function begin(state, room) {
  const none = room.judgments === 0 && !state.report;
  const train = button("Train", (event) => act(room, event.currentTarget, "/v1/train", {}), {
    class: "button primary",
    disabled: none,
  });
  return [none && h("p", { class: "muted", text: "There is nothing to learn from yet." }), train];
}

function progress({ share, note }) {
  const label = `Training: ${Math.round(100 * share)} %`;
  return h(
    "p",
    { class: "learn-progress", role: "status" },
    h("progress", { max: 1, value: share, "aria-label": "Training" }),
    h("span", { class: "small muted", text: `${label}, ${note}` }),
  );
}

/** Ask how training stands, without a flicker, until it has ended. */
async function follow(room) {
  const state = await get("/v1/train", { index: room.index }, { signal: room.signal }).catch(() => null);
  if (!state || room.signal.aborted) return;
  fill(room.training, stateOf(state, room));
  if (state.state === "done") announce("Training is done");
}

async function act(room, pressed, path, body) {
  pressed.disabled = true;
  try {
    fill(room.training, stateOf(await post(path, { ...body, index: room.index }), room));
  } catch (error) {
    pressed.disabled = false;
    pressed.after(failure(error));
  }
}

function comparison({ report, latest, adopted, ranks }, room) {
  const change = report.new_map - report.old_map;
  const sure = report.is_significant ? "That is hardly chance" : "That may be chance";
  const press = (label, path, body, props = {}) =>
    button(label, (event) => act(room, event.currentTarget, path, body), props);
  return h(
    "div",
    { class: "learn-report" },
    h("h3", {}, "The model ", h("code", { text: latest }), " against the one before it"),
    h(
      "dl",
      { class: "learn-figures" },
      figure("MAP before", measured(report.old_map)),
      figure("MAP after", measured(report.new_map)),
      figure("questions better", number(report.better)),
      figure("questions worse", number(report.worse)),
    ),
    h(
      "p",
      { class: "small muted" },
      `Mean average precision of ${plural(report.questions, "judged question")}, each ranked by a model that did not see `,
      `its judgments (${report.folds} folds), judged answers alone. Learning began from `,
      report.base === "default" ? "the model that Fader ships with" : data(report.base, 80),
      `. It is ${change >= 0 ? "better" : "worse"} by ${measured(Math.abs(change))}. ${sure} `,
      `(p ${report.p < 0.001 ? "< 0.001" : `= ${measured(report.p)}`}).`,
    ),
    report.judgments < room.judgments &&
      h("p", {
        class: "small muted",
        text:
          `Learned from ${number(report.judgments)} of ${number(room.judgments)} judgments: of a person who has judged ` +
          "much more than all others together, only some count.",
      }),
    h(
      "div",
      { class: "row wrap" },
      adopted === latest
        ? h("span", { class: "learn-adopted", text: `${latest} ranks now.` })
        : press("Adopt it", "/v1/train/adopt", { name: latest }, { class: change > 0 ? "button primary" : "button" }),
      adopted && press("Roll back", "/v1/train/rollback", {}),
      adopted !== latest &&
        h("span", { class: "small muted" }, `Or keep both: ${ranks} ranks, and ${latest} is in the list of what ranks.`),
    ),
    h(
      "details",
      {},
      h("summary", { text: "What changed, question by question" }),
      table(
        ["Question", "Before", "After"],
        report.per_question.map((each) => [each.question, measured(each.old), measured(each.new)]),
      ),
    ),
    report.cells.length > 0 &&
      h(
        "details",
        {},
        h("summary", { text: "What changed in the weights" }),
        table(
          ["Weight", "Share before", "Share after"],
          report.cells.map((each) => [each.cell, percent(each.old), percent(each.new)]),
        ),
      ),
  );
}

/** A measure with so many digits that columns can be compared. */
function measured(x) {
  return x.toFixed(3);
}

function percent(share) {
  return `${number(Math.round(1000 * share) / 10)} %`;
}

function figure(label, value) {
  return h("div", {}, h("dt", { class: "small muted", text: label }), h("dd", { class: "tabular", text: value }));
}

function table(head, rows) {
  return h(
    "div",
    { class: "learn-table", tabindex: 0, role: "group", "aria-label": head[0] },
    h(
      "table",
      { class: "table small" },
      h("thead", {}, h("tr", {}, head.map((text) => h("th", { scope: "col", text })))),
      h(
        "tbody",
        {},
        rows.map((row) => h("tr", {}, row.map((cell, i) => h("td", { class: i > 0 ? "tabular" : "" }, data(cell, 120))))),
      ),
    ),
  );
}

// ---- what to judge next ----

async function showNext({ next, index, signal }) {
  await load(
    next,
    () => get("/v1/propose", { index, limit: SHOWN }, { signal }),
    ({ proposals, gain }) => [
      h("h2", { text: proposals.length > 0 ? `Judge these ${proposals.length}` : "What to judge next" }),
      proposals.length === 0
        ? h("p", { class: "muted", text: "When a few answers are judged, those that teach most are proposed here." })
        : h("p", {
            class: "small muted",
            text:
              "Models disagree most on these answers, so judging them teaches most: it may move the mean reciprocal " +
              `rank of the judged questions by up to ${measured(gain)}.`,
          }),
      h(
        "ol",
        { class: "learn-list" },
        proposals.map((each) => proposal(each, index)),
      ),
    ],
  );
}

function proposal({ question, query, type, entity, name }, index) {
  const about = link("/entity", { id: entity, q: query, type, index });
  const element = h("li", { class: "learn-proposal" });
  fill(
    element,
    h(
      "div",
      {},
      data(question || query, 200, { class: "learn-question" }),
      h("div", {}, h("a", { href: about }, data(name || entity, 120))),
    ),
    judgeButtons({ q: question || query, query, type, index, entity }, null, element),
  );
  return element;
}
