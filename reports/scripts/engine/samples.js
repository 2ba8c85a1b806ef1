// Numbers that nobody knows: many values of each, drawn together. What each may be is as in `solver/variants/variant_spreads.py`.

import { Impossible, failureOf, refuseOutOfBounds } from "./answers.js";
import { exactOf } from "./numerics/fractions.js";
import { Run } from "./model.js";
import { normalQuantile } from "./numerics/normal.js";
import { Undecided } from "./numerics/search.js";

export const CERTAINTY = 0.95; // with which a page tells a capacity

const VALUES = {
  normal: (level, mean, deviation) => mean + deviation * normalQuantile(level),
  lognormal: (level, median, deviation) => median * Math.exp(deviation * normalQuantile(level)),
  uniform: (level, low, high) => low + (high - low) * level,
  triangular: (level, low, likeliest, high) => (level * (high - low) < likeliest - low
    ? low + Math.sqrt(level * (high - low) * (likeliest - low))
    : high - Math.sqrt((1 - level) * (high - low) * (high - likeliest))),
  weighted: (level, values, ends) => values[ends.findIndex((end) => level < end)] ?? values.at(-1),
  sampled: (level, values) => values[Math.floor(level * values.length)],
};

// What a number stays below with a probability; of several that are drawn together, one of as many rows.
export function valueAt([kind, ...parameters], level) { return VALUES[kind](level, ...parameters); }

// Numbers that look random, from a seed: always the same (Mulberry32, by T. Ettinger).
function chances(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// A level in each of `count` equal stretches, in any order: with one such row for each number, a Latin hypercube.
function levels(count, seed) {
  const chance = chances(seed);
  const found = Float64Array.from({ length: count }, (_, i) => (i + Math.max(chance(), 1e-6)) / count);
  for (let i = count - 1; i > 0; i--) {
    const other = Math.floor(chance() * (i + 1));
    [found[i], found[other]] = [found[other], found[i]];
  }
  return found;
}

// The value that a share of some are not above: `solver/uncertainty/prediction_interval.py` counts alike.
export function least(sorted, certainty) { return sorted[Math.floor((1 - certainty) * sorted.length + 1e-9)]; }
export function most(sorted, certainty) { return sorted[Math.ceil(certainty * sorted.length - 1e-9) - 1]; }

// The values of all that is not known in a start, as fractions; kept, as they are the same whatever a reader sets.
function drawnOnce(model, start, count, seed) {
  const drawn = (model.drawn ??= new Map()), key = [model.starts.indexOf(start), count, seed].join();
  if (!drawn.has(key)) {
    const numbers = new Set(Object.values(start.uncertain ?? {}).flat());
    drawn.set(key, new Map([...numbers].flatMap((number, i) => {
      const own = levels(count, seed * 1000 + i);
      return model.record(number).map(([name, ...parameters]) => [name, Array.from(own, (level) => exactOf(String(valueAt(parameters, level))))]);
    })));
  }
  return drawn.get(key);
}

// Samples of what is not known in a setting; what a reader has set is known, be it at the value that it typically has.
export class Samples {
  constructor(model, setting, count, seed) {
    Object.assign(this, { model, setting, count, seed });
    const start = model.starts[setting.start], isSet = model.changedIn(setting);
    this.values = drawnOnce(model, start, count, seed);
    const namesOf = (numbers) => numbers.flatMap((one) => model.record(one).map(([name]) => name)).filter((name) => !isSet(name));
    this.names = new Map(Object.entries(start.uncertain ?? {}).map(([mode, numbers]) => [mode, namesOf(numbers)]));
    this.run = new Run(model);
    this.graphs = model.graphs(setting) ?? [];
    this.leftOut = new Map();
  }

  // Numbers in force that are not known, and that some formula rests on.
  get counting() {
    const inForce = this.graphs.flatMap((graph) => this.namesIn(graph).filter((name) => graph.numbers.some((one) => one.name === name)));
    return [...new Set(inForce)];
  }

  // Of these, numbers on which formulas themselves depend: no page can draw them.
  get deciding() { return this.counting.filter((name) => this.graphs.some((graph) => graph.numbers.some((one) => one.name === name && one.decided))); }

  namesIn(graph) { return this.names.get(graph.mode ?? "") ?? []; }

  // A graph with the numbers of one sample; null where it cannot be, and why is counted.
  at(graph, index) {
    const numbers = new Map(this.setting.numbers);
    for (const name of this.namesIn(graph)) numbers.set(name, this.values.get(name)[index]);
    this.run.prepare(graph, numbers);
    try {
      refuseOutOfBounds(this.run);
      return this.run;
    } catch (error) {
      if (!(error instanceof Impossible)) throw error;
      this.leftOut.set(index, error.message);
      return null;
    }
  }

  // The largest acceptable population of one sample, one less than the range for none, and up to
  // where each criterion of the first graph is met; null where it cannot be.
  // In slices, between which no other sample may be asked for.
  * answering(index, shown) {
    let largest = Infinity, failures = null;
    for (const graph of this.graphs) {
      const run = this.at(graph, index);
      if (!run) return null;
      try {
        const found = [];
        for (const one of graph.criteria) found.push(yield* failureOf(run, one));
        if (graph.mode === shown.mode) failures = found.map((one) => one.failure ?? graph.high + 1);
        largest = Math.min(largest, graph.high, ...found.map((one) => (one.failure ?? graph.high + 1) - 1));
      } catch (error) {
        if (!(error instanceof Undecided)) throw error;
        this.leftOut.set(index, "not solved within the time limit of the page");
        return null;
      }
    }
    return { largest, failures };
  }
}
