// What things are called: by the doc strings of the spec; the identifier stands behind, and where there is none, alone.

import { breakable, make } from "../common/dom.js";
import { shortened } from "../common/format.js";

const MOST = 48; // letters of a label in a line of text
const WORDS = { cpu: "processor", disk: "disk", memory: "memory", in: "in", out: "out" };

// The first sentence of a doc string, without its stop.
function firstSentence(doc) { return doc.split(/(?<=[^.])[.:;](?:\s|$)/, 1)[0].trim(); }

// { text, whole } of a name: its own doc string, or that of what it is a part of; null where neither has one.
export function labelOf(model, name) {
  model.labelsKnown ??= new Map();
  if (!model.labelsKnown.has(name)) model.labelsKnown.set(name, foundLabel(model.docs ?? {}, name));
  return model.labelsKnown.get(name);
}

function foundLabel(docs, name) {
  if (Object.hasOwn(docs, name)) return { text: firstSentence(docs[name]), whole: docs[name] };
  for (let at = name.lastIndexOf("."); at > 0; at = name.lastIndexOf(".", at - 1)) {
    const owner = name.slice(0, at), part = name.slice(at + 1);
    if (!Object.hasOwn(docs, owner)) continue;
    const words = part.split(".").map((one) => WORDS[one] ?? one.replaceAll("_", " ")).join(" ");
    return { text: `${shortened(firstSentence(docs[owner]), MOST - words.length)}: ${words}`, whole: `${words} of: ${docs[owner]}` };
  }
  return null;
}

// What something is called in a line of text or a picture.
export function called(model, name) {
  const label = labelOf(model, name);
  return label ? shortened(label.text, MOST) : name;
}

const PLACES = [/^(.+)( at )(.+)$/, /^()(waiting for |over |propagation on |recovered by |dropped by )(.+)$/, /^(.+)(, fixed| together)()$/];

// A stage of a latency: what is done, and where.
export function stageCalled(model, stage) {
  const parts = PLACES.map((pattern) => pattern.exec(stage)).find(Boolean);
  return parts ? `${parts[1] && called(model, parts[1])}${parts[2]}${parts[3] && called(model, parts[3])}` : called(model, stage);
}

// A change with the labels of what it names.
export function inLabels(model, { text, names }) {
  return text.split(" ").map((word) => (names.includes(word) ? called(model, word) : word)).join(" ");
}

// The same with the identifier behind it, small; the whole doc string shows under the pointer.
export function labelled(model, name, shown = name) {
  const label = labelOf(model, name);
  if (!label) return make("span", null, breakable(shown));
  return make("span", { title: label.whole }, `${shortened(label.text, MOST)} `, make("code", { class: "id" }, breakable(shown)));
}

// A readout tells both.
export function calledInFull(model, name) {
  const label = labelOf(model, name);
  return label ? `${shortened(label.text, MOST)} (${name})` : name;
}
