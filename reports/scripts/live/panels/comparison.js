// Configurations side by side: each is a column, one of them is the one that the controls move.

import { knownAt, marked } from "../../engine/certainty.js";
import { make, table } from "../../common/dom.js";
import { formatAgainstLimit, percent, whole } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";
import { limitRow } from "./first_screen.js";
import { nounOfAll } from "../configuration_names.js";
import { called, labeled } from "../labels.js";
import { stateLight } from "../limit_states.js";
import { inWords } from "../requirements.js";
import { stateOf } from "./sections.js";
import { isPlanned, formatCapacity, saturationPoint } from "../sentences.js";

export function showComparison(columns, active, choose, drop) {
  const place = document.getElementById("comparison");
  if (columns.length < 2) return place.replaceChildren();
  const head = ["Measure", ...columns.map((one, i) => make("span", null,
    make("button", { type: "button", class: i === active ? "tab chosen" : "tab", "aria-pressed": String(i === active), on: { click: () => choose(i) } }, one.label),
    one.isPinned ? make("button", { type: "button", class: "quiet", "aria-label": `Remove ${one.label}`, on: { click: () => drop(i) } }, "×") : null))];
  const row = (name, cellOf) => [name, ...columns.map((one) => cellOf(one))];
  const rows = [
    row(`Capacity (${nounOfAll(columns)})`, (one) => make("strong", null, one.solved.largest === null ? "none" : formatCapacity(one))),
    row("Limit", (one) => make("span", null, limitRow(one))),
    row(columns.some(isPlanned) ? "First to exceed its target" : phrase("page.first"), (one) => firstInShort(one)),
    row("Shown at", (one) => `${one.model.population} = ${whole(one.n)}`),
    ...namesOf(columns, (one) => (one.graph.quality === null ? [] : [called(one.model, "quality")])).map((name) => row(name, (one) => (one.graph.quality === null || called(one.model, "quality") !== name ? "" : inWords(marked(formatAgainstLimit(one.model.units, one.value(one.graph.quality), 1, ""), knownAt(one.run, one.graph.qualityKnown, one.n), one.value(one.graph.quality)))))),
    ...namesOf(columns, (one) => one.graph.criteria.filter((c) => c.stated && !c.isQuality).map((c) => c.name)).map((name) => row(labeled(requiredIn(columns, name), name), (one) => {
      const found = one.solved.criteria.find((c) => c.criterion.name === name);
      if (!found) return one.solved.unevaluated.some((c) => c.name === name) ? "not evaluated" : "";
      if (found.criterion.hasConfidence) return stateLight(stateOf(one, found).state);
      return make("span", null, stateLight(stateOf(one, found).state), ` ${marked(one.format(one.value(found.criterion.measure), found.criterion.dimension, found.criterion), knownAt(one.run, found.criterion, one.n), one.value(found.criterion.measure))}`);
    })),
    ...namesOf(columns, (one) => one.solved.resources.map((r) => r.name)).map((name) => row(make("span", null, labeled(ownerOf(columns, name), name), " utilization"), (one) => {
      const found = one.solved.resources.find((r) => r.name === name);
      return found ? percent(one.value(found.about.load)) : "";
    })),
    ...[false, true].filter((running) => columns.some((one) => one.graph.costs.some((c) => c.running === running))).map((running) => row(running ? "Running cost" : "Cost", (one) => {
      const found = one.graph.costs.find((c) => c.running === running);
      return found ? one.format(one.value(found.total), found.dimension) : "";
    })),
    row("Most sensitive to", (one) => one.sensitivity?.rows.slice(0, 3).map((s) => `${called(one.model, s.record.name)} ${s.elasticity > 0 ? "+" : "−"}${Math.abs(s.elasticity).toFixed(2)}\u00a0%`).join(", ") ?? "computing …"),
  ];
  place.replaceChildren(make("h2", null, "Comparison"), table(head, rows));
}

// The model that has a resource of a name: columns may be of several.
function ownerOf(columns, name) { return columns.find((one) => one.solved.resources.some((r) => r.name === name)).model; }

// The same of a requirement.
function requiredIn(columns, name) { return columns.find((one) => one.graph.criteria.some((c) => c.name === name)).model; }

function firstInShort({ model, solved: { first, undecided } }) {
  if (first) return `${called(model, first.name)}, above ${saturationPoint(first)}${undecided.length ? ", as far as known" : ""}`;
  return undecided.length ? "unknown" : "none";
}

function namesOf(columns, names) { return [...new Set(columns.flatMap(names))]; }
