// What would help most: every single change that the page can try, in the time between frames.

import { fails, Impossible, isCounted, judged, refuseOutOfBounds } from "../engine/answers.js";
import { reduced } from "../engine/fractions.js";
import { largestKnown, usersTold } from "../engine/known.js";
import { Undecided } from "../engine/search.js";
import { fill, make, table } from "../common/dom.js";
import { beyondRange } from "./controls.js";

export class Advice {
  constructor(column, done) {
    Object.assign(this, { column, done, found: [] });
    this.waiting = isPromised(column) ? [] : [...this.hardware(), ...this.numbers()];
  }

  // Other choices, machines and networks; a place is worth a try where it bears on the limit.
  *hardware() {
    const { model, setting } = this.column;
    for (let i = 0; i < model.selects.length; i++) {
      for (let k = 0; k < model.selects[i].choices.length; k++) {
        if (k === setting.picks[i]) continue;
        const picks = setting.picks.with(i, k);
        const variant = model.variant(setting.shape, picks);
        if (!variant || variant === model.variant(setting.shape, setting.picks)) continue;
        const { kind, name, choices } = model.selects[i];
        if (kind === "case") continue; // which of several values counts is not for anybody to change
        yield { way: kind === "option" ? "another choice" : "other hardware", text: `${name} = ${choices[k]}`, setting: { ...setting, picks } };
      }
    }
  }

  // Capacity twice as large; parameters of the spec a tenth up or down, as it helps.
  *numbers() {
    const { column } = this;
    const { setting, sensitivity, graph, run } = column;
    for (const { record, elasticity } of sensitivity.rows) {
      // To be content with less is no help.
      if (record.decided || record.limit || /^(limit|ideal) of /.test(record.name)) continue;
      const now = run.numbers.get(record.name);
      const changed = (above, below) => ({ ...setting, numbers: new Map(setting.numbers).set(record.name, reduced(now[0] * above, now[1] * below)) });
      if (record.capacity && elasticity > 0) {
        yield { way: "more capacity", text: `twice the ${record.name}`, setting: changed(2n, 1n) };
      } else if (record.parameter && !record.name.includes(".")) {
        const one = elasticity > 0 ? { word: "more", above: 11n } : { word: "less", above: 9n };
        const [text, next] = isCounted(column.model, graph, record)
          ? [`one ${one.word} ${record.name}`, changed(now[0] + (elasticity > 0 ? now[1] : -now[1]), now[0])]
          : [`10 % ${one.word} ${record.name}`, changed(one.above, 10n)];
        if (beyondRange(record, next.numbers.get(record.name)) !== null) continue;
        yield { way: elasticity > 0 ? "more of it" : "less demand", text, setting: next, record };
      }
    }
  }

  // Try some changes, for as long as there is time; true when all were tried.
  work(until) {
    while (this.waiting.length && performance.now() < until) this.try_(this.waiting.shift());
    if (!this.waiting.length) this.done(this.best());
    return !this.waiting.length;
  }

  try_(change) {
    const { column } = this;
    const now = column.solved.largest ?? column.graph.low - 1;
    try {
      const graphs = column.model.graphs(change.setting), found = [];
      for (const graph of graphs) {
        refuseOutOfBounds(column.scratch.prepare(graph, change.setting.numbers));
        if (column.scratch.graph.criteria.some((one) => fails(column.scratch, column.scratch.curve(one.over, [one.measure, one.limit]), one, now + 1))) return;
        found.push(...graph.criteria.map((one) => judged(column.scratch, one)));
      }
      const { low, high } = graphs[0];
      const largest = Math.min(high + 1, ...found.map((one) => one.failure ?? high + 1)) - 1;
      if (largest > now) this.found.push({ ...change, largest, isRange: largest === high, known: largestKnown(found, low) });
    } catch (error) {
      if (!(error instanceof Undecided || error instanceof Impossible)) throw error;
    }
  }

  // The best of all ways, at most three of each: ten other machines would hide what else there is.
  best() {
    const counts = new Map();
    return this.found.sort((a, b) => b.largest - a.largest || (a.text < b.text ? -1 : 1)).filter(({ way }) => {
      counts.set(way, (counts.get(way) ?? 0) + 1);
      return counts.get(way) <= MOST_OF_A_WAY;
    });
  }
}

// Whether samples tell the answer: each change would have a promise of its own.
function isPromised({ solved }) { return solved.unjudged.length > 0 || solved.criteria.some((one) => one.criterion.isPromised); }

const MOST_OF_A_WAY = 3;
const SHOWN_ADVICE = 8;

export function showAdvice(column, found, apply) {
  if (column.solved.verdict === "range") return fill("advice", make("p", { class: "soft" }, "Nothing needs help: the range is the limit."));
  if (isPromised(column)) return fill("advice", make("p", { class: "soft" }, "Samples tell what helps, as users ask for certainty: this page does not draw them. qps solve --set tells how many users a change carries."));
  if (!found) return fill("advice", make("p", { class: "soft" }, "Trying single changes …"));
  if (!found.length) return fill("advice", make("p", { class: "soft" }, "No single change that this page can try helps."));
  const rows = found.slice(0, SHOWN_ADVICE).map((one) => [
    one.way, one.text, usersTold(one),
    make("button", { type: "button", class: "quiet", "aria-label": `try ${one.text}`, on: { click: () => apply(one) } }, "try"),
  ]);
  return fill("advice", table(["way", "change", "users", ""], rows, new Set([2])));
}
