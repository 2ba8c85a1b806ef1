// Fans around lines: between which values they lie with a probability, from samples of the numbers
// that they rest on.

import { least, most } from "../../engine/samples.js";
import { limitUsed } from "../../engine/limit_use.js";

const LEVEL = 0.95; // to each side
const EVERY = 3, EVERY_COARSE = 8; // points of a line that its fan has one of

// What part of their limits some steps use, as [value, limit, whether it is one at most], or the values of single ones,
// at many populations, sample by sample.
export class FanJob {
  constructor(graph, pairs, populations, every = EVERY) {
    Object.assign(this, { graph, pairs, populations, every, done: 0, count: 0, spent: 0, isDone: false, isLeft: false, fans: null });
    this.places = populations.filter((_, i) => i % every === 0 || i === populations.length - 1);
    this.values = pairs.map(() => Array.from(this.places, () => []));
  }

  isFor(pairs, populations) {
    return String(pairs) === String(this.pairs) && populations[0] === this.populations[0] && populations.at(-1) === this.populations.at(-1);
  }

  coarse() { return new FanJob(this.graph, this.pairs, this.populations, EVERY_COARSE); }

  step(samples) {
    const run = samples.at(this.graph, this.done++);
    if (!run) return;
    this.count++;
    const rows = run.sweep(this.pairs.flatMap(([value, limit = value]) => [value, limit]), this.places);
    this.pairs.forEach(([, limit, atMost], i) => {
      const values = rows[2 * i], limits = rows[2 * i + 1];
      for (let j = 0; j < this.places.length; j++) this.values[i][j].push(limit === undefined ? values[j] : limitUsed(atMost, values[j], limits[j]));
    });
  }

  // The lower and the upper end of each line at each place. What has no value is beyond all that have one.
  result() {
    const ends = this.values.map((line) => {
      const sorted = line.map((values) => Float64Array.from(values, (v) => (Number.isNaN(v) ? Infinity : v)).sort());
      return { low: sorted.map((one) => least(one, LEVEL)), high: sorted.map((one) => most(one, LEVEL)) };
    });
    return { places: this.places, ends, samples: this.count };
  }
}

// The fan of one line, as a chart draws and tells it.
export class Fan {
  constructor({ places, ends, samples }, line, count) { Object.assign(this, { places, samples, count, ...ends[line] }); }

  path(across, up) {
    const beyond = Math.abs(up.start - up.end);
    const level = (v) => (up.isLog && v <= 0 ? up.start + beyond : Math.max(up.end - beyond, Math.min(up.start + beyond, up.at(v)))).toFixed(1);
    const parts = [];
    let forth = [], back = [];
    const close = () => {
      if (forth.length > 1) parts.push(`M${forth.join("L")}L${back.reverse().join("L")}Z`);
      [forth, back] = [[], []];
    };
    this.places.forEach((place, i) => {
      if (!Number.isFinite(this.low[i])) return close();
      const x = across.at(place).toFixed(1);
      forth.push(`${x} ${level(this.low[i])}`);
      return back.push(`${x} ${level(Number.isFinite(this.high[i]) ? this.high[i] : Number.MAX_VALUE)}`);
    });
    close();
    return parts.join("");
  }

  // The ends beside a value of the line, in words: between places of the fan they are in between.
  format(index, format) { return ` (${format(this.end(this.low, index))} to ${format(this.end(this.high, index))})`; }

  // One of its two ends beside a value of the line.
  end(ends, index) {
    const at = (index * (this.places.length - 1)) / (this.count - 1);
    const before = Math.floor(at), after = Math.min(before + 1, this.places.length - 1), share = at - before;
    return share ? ends[before] * (1 - share) + ends[after] * share : ends[before];
  }
}
