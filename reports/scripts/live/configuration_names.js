// What configurations are called side by side: what they began with, and what is set otherwise in each.

import { shortened } from "../common/format.js";
import { phrase } from "../common/phrases.js";
import { changesOf, fileOf, nounOf } from "./sentences.js";

const LONGEST = 70;

export function nameColumns(columns) {
  const isOfSeveral = columns.some((one) => one.model !== columns[0].model), known = new Map();
  for (const column of columns) {
    const { model, setting } = column, start = model.starts[setting.start];
    const { sets, only } = changesOf(column);
    const changes = [...sets.filter((text) => !start.settings.includes(text)), ...only];
    const begun = columns.find((one) => one.model === model && one.began === setting.start);
    const words = begun ? [begun.name] : [isOfSeveral ? fileOf(model) : "", start.name];
    const isPlain = words.at(-1) === PLAIN || !words.at(-1);
    if (isPlain && changes.length) words.pop();
    const label = shortened([...words, ...changes].filter(Boolean).join(", ") || PLAIN, LONGEST);
    known.set(label, (known.get(label) ?? 0) + 1);
    column.label = known.get(label) > 1 ? `${label} (${known.get(label)})` : label;
  }
}

// What the users of all of them are called: by their specs where these agree.
export function nounOfAll(columns) {
  const nouns = new Set(columns.map((one) => nounOf(one.model)));
  return nouns.size === 1 ? [...nouns][0] : "users";
}

const PLAIN = phrase("page.baseline");
