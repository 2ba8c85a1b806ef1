// What things are called: in the words that `reports/text/words/labels.py` has for them; the identifier stands behind.

import { breakable, make } from "../common/dom.js";
import { shortened } from "../common/format.js";
import { phrase } from "../common/phrases.js";

const MOST = 48; // letters of a label in a line of text
const UTILIZATION = /\.(load|utilization)$/;

// { text, whole } of a name, whole with its doc string; null where it is called as it is written.
export function labelOf(model, name) {
  const { labels = {}, docs = {} } = model;
  const text = Object.hasOwn(labels, name) ? labels[name] : null;
  if (text !== null) return { text, whole: Object.hasOwn(docs, name) ? docs[name] : text };
  return UTILIZATION.test(name) ? labelOf(model, name.replace(UTILIZATION, "")) : null;
}

const NAMES = /quantile\([^()]*\)|(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w(])/g;

// A sentence with words for the names of parts in it, such as `web.cpu`: a name of one word may be a word.
export function spoken(model, text) { return text.replace(NAMES, (name) => measured(model, name)); }

// What something is called in a line of text or a picture.
export function called(model, name) {
  const label = labelOf(model, name);
  return label ? shortened(label.text, MOST) : name;
}

// The same whole, for a sentence.
export function named(model, name) { return labelOf(model, name)?.text ?? name; }

// What is measured: `web CPU utilization` of `web.cpu.load`.
export function measured(model, name) { return UTILIZATION.test(name) ? `${named(model, name)} utilization` : named(model, name); }

const STAGES = [
  ["stage.at", /^(.+) at (.+)$/], ["stage.waiting", /^waiting for (.+)$/], ["stage.over", /^over (.+)$/], ["stage.propagation", /^propagation on (.+)$/],
  ["stage.recovered", /^recovered by (.+)$/], ["stage.dropped", /^dropped by (.+)$/], ["stage.fixed", /^(.+), fixed$/], ["stage.together", /^(.+) together$/],
];

// A stage of a latency: what is done, and where.
export function stageCalled(model, stage) {
  for (const [key, pattern] of STAGES) {
    const found = pattern.exec(stage);
    if (found) return phrase(key, { what: called(model, found[1]), where: found[2] ? called(model, found[2]) : "" });
  }
  return called(model, stage);
}

// The same with the identifier behind it, small; the whole doc string shows under the pointer.
export function labeled(model, name, shown = name) {
  const label = labelOf(model, name);
  if (!label) return make("span", null, breakable(shown));
  if (shown === label.text.replaceAll(" ", "_")) return make("span", { title: name }, label.text);
  return make("span", { title: label.whole }, `${shortened(label.text, MOST)} `, make("code", { class: "id" }, breakable(shown)));
}

// A readout tells both.
export function calledInFull(model, name) {
  const label = labelOf(model, name);
  return label ? `${shortened(label.text, MOST)} (${name})` : name;
}
