// What each number that is not known has to do with how uncertain the answer is: the same designs and
// estimators as those of `solver/uncertainty/sample_design.py` (Sobol 2001, Saltelli and others 2010, Jansen), of fewer samples.

import { exactOf, quotient } from "./numerics/fractions.js";
import { exactNumber } from "./model.js";
import { least, Samples } from "./samples.js";

const IN_ALL = 4096, FEWEST = 64; // samples that are solved once more for all numbers, and for each
const NORMAL = 1.645; // deviations, between which a normal number is nine times in ten

export class Shares {
  // `answers` are the largest acceptable populations of all `samples`, null for none that can be.
  constructor(samples, answers, seed, certainty) {
    const { model, setting, count } = samples, counting = new Set(samples.counting);
    const start = model.starts[setting.start];
    const numbers = [...new Set(Object.values(start.uncertain).flat())].map((one) => model.record(one).map(([name]) => name));
    this.numbers = numbers.filter((names) => names.some((name) => counting.has(name)));
    this.count = Math.min(count, Math.max(FEWEST, Math.floor(IN_ALL / (2 * this.numbers.length + 1))));
    // Samples of its own: what is left out of these is none of those that are told.
    this.samples = new Samples(model, setting, count, seed);
    Object.assign(this, { answers, certainty, done: 0, now: null, found: [] });
    const { values } = this.samples, others = new Samples(model, setting, count, -seed).values;
    const mixed = (names, other) => new Map([...values].map(([name, own]) => [name, names.includes(name) ? other(name, own) : own]));
    this.designs = [others,
      ...this.numbers.map((names) => mixed(names, (name, own) => own.map((value) => this.halved(name, value)))),
      ...this.numbers.map((names) => mixed(names, (name) => others.get(name)))];
  }

  get isDone() { return this.done >= this.designs.length * this.count; }

  // Half as far from what is typical.
  halved(name, value) {
    const { graphs, model, setting } = this.samples;
    const record = graphs.flatMap((graph) => graph.numbers).find((one) => one.name === name);
    const typical = model.setting(setting.start).numbers.get(name) ?? (record && exactNumber(record));
    return typical ? exactOf(String((quotient(...value) + quotient(...typical)) / 2)) : value;
  }

  // The next sample, in slices (`common/slices.js`).
  * answering(shown) {
    this.samples.values = this.designs[Math.floor(this.done / this.count)];
    const found = yield* this.samples.answering(this.done % this.count, shown);
    this.found.push(found && found.largest);
    this.done++;
  }

  // For each number its names, shares of the variance with how far off these may be, and what could be
  // promised if its spread were half as wide; those first without which the answer would be most certain.
  result(atConfidence, low) {
    const { answers, certainty, count, found, numbers } = this;
    const design = (i) => found.slice(i * count, (i + 1) * count);
    const usual = answers.slice(0, count), others = design(0);
    const rows = numbers.map((names, i) => {
      const completeRows = (...columns) => columns[0].map((_, k) => columns.map((column) => column[k])).filter((row) => row.every((one) => one !== null));
      const both = completeRows(usual, design(1 + i)), all = completeRows(usual, others, design(1 + numbers.length + i));
      const gained = both.length ? confidenceQuantile(both.map(([, one]) => one), certainty) - confidenceQuantile(both.map(([one]) => one), certainty) : null;
      const halved = gained === null ? null : confidenceQuantile(answers.filter((one) => one !== null), certainty) + gained;
      return { names, ...sharesOf(all), capacityIfHalved: halved === null || halved < low ? null : halved };
    });
    return rows.sort((one, other) => other.total.share - one.total.share);
  }
}

function confidenceQuantile(answers, certainty) { return least(Float64Array.from(answers).sort(), certainty); }

function mean(values) { return values.reduce((sum, one) => sum + one, 0) / values.length; }

function sharesOf(rows) {
  const both = rows.flatMap(([one, other]) => [one, other]), middle = mean(both);
  const variance = rows.length ? mean(both.map((one) => (one - middle) ** 2)) : 0;
  const estimated = (terms) => {
    if (!variance) return { share: 0, error: 0 };
    const share = mean(terms), error = NORMAL * Math.sqrt(mean(terms.map((one) => (one - share) ** 2)) / terms.length);
    return { share: Math.min(1, Math.max(0, share)), error };
  };
  // Two estimators of the same: the first is good at small shares, the second (Jansen's) at large ones.
  const first = [
    estimated(rows.map(([one, other, mixed]) => ((other - middle) * (mixed - one)) / variance)),
    estimated(rows.map(([, other, mixed]) => 1 - (other - mixed) ** 2 / (2 * variance))),
  ];
  return {
    first: first.reduce((best, one) => (one.error < best.error ? one : best)),
    total: estimated(rows.map(([one, , mixed]) => (one - mixed) ** 2 / (2 * variance))),
  };
}
