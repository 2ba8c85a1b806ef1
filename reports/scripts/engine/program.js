// The model's program: steps such as ["*", 3, 7], each working on earlier ones.
// Runs it for one population, for many at once, and backwards for its derivatives.

import { quotient } from "./numerics/fractions.js";
import { OPERATIONS, slopesInSlices } from "./operations.js";
import { memoizing } from "./numerics/memo.js";
import { finished } from "../common/slices.js";

// What stands for itself: the population and numbers by their names have their values from outside.
const LEAVES = {
  n: () => null,
  value: () => null,
  number: (above, below) => quotient(BigInt(above), BigInt(below)),
  float: (value) => value,
};

// The commonest operations are done in place: to call a function of floats takes longer than it does.
const IN_PLACE = { "+": 1, "-": 2, "*": 3, "/": 4 };

// `moving` marks steps that depend on the population, `constant` those that depend on no number either. `laws` has what the table of operations says of some: whether
// one `grows` with each of what it works on (1), falls (-1) or may do both (0), and what of it counts `whole`.
export class Program {
  constructor(steps, laws = {}) {
    Object.assign(this, { size: steps.length, steps, laws });
    for (const part of ["a", "b", "c"]) this[part] = new Int32Array(this.size);
    this.functions = [];
    this.inPlace = Uint8Array.from(steps, ([word]) => IN_PLACE[word] ?? 0);
    this.parts = [];
    this.moving = new Uint8Array(this.size);
    this.constant = new Uint8Array(this.size);
    this.values = new Map();
    this.stepOfValue = new Map();
    this.orders = new Map();
    steps.forEach(([word, ...parts], i) => (Object.hasOwn(LEAVES, word) ? this.readLeaf(word, parts, i) : this.read(word, parts, i)));
  }

  readLeaf(word, operands, i) {
    const value = LEAVES[word](...operands);
    this.parts.push([]);
    this.functions.push(value === null ? null : () => value);
    if (word === "value") this.stepOfValue.set(operands[0], i);
    this.moving[i] = word === "n" ? 1 : 0;
    this.constant[i] = value === null ? 0 : 1;
  }

  read(word, parts, i) {
    if (!Object.hasOwn(OPERATIONS, word) || !OPERATIONS[word]) throw new Error(`unknown step ${word}`);
    this.parts.push(parts);
    this.functions.push(this.valueOf(word));
    [this.a[i], this.b[i], this.c[i]] = parts;
    this.moving[i] = parts.some((part) => this.moving[part]) ? 1 : 0;
    this.constant[i] = parts.every((part) => this.constant[part]) ? 1 : 0;
  }

  // What an operation does to floats. Those of queues take long: what one of them was told before is not told anew.
  valueOf(word) {
    if (!this.laws[word]) return OPERATIONS[word].value;
    if (!this.values.has(word)) this.values.set(word, memoizing(OPERATIONS[word].value));
    return this.values.get(word);
  }

  word(i) { return this.steps[i][0]; }

  // The steps that some steps rest on, in the order in which they run: fixed ones, moving ones, all; `holds` marks them.
  needed(outputs) {
    const key = outputs.join();
    if (!this.orders.has(key)) this.orders.set(key, this.ordered(outputs));
    return this.orders.get(key);
  }

  ordered(outputs) {
    const marked = new Uint8Array(this.size);
    const open = [...outputs];
    while (open.length) {
      const i = open.pop();
      if (marked[i]) continue;
      marked[i] = 1;
      for (const part of this.parts[i]) open.push(part);
    }
    const all = [], fixed = [], moving = [];
    for (let i = 0; i < this.size; i++) {
      if (!marked[i]) continue;
      all.push(i);
      (this.moving[i] ? moving : fixed).push(i);
    }
    return { all: Int32Array.from(all), fixed: Int32Array.from(fixed), moving: Int32Array.from(moving), holds: marked };
  }

  // Whether any of some steps is a number of queues.
  countsQueues(order) { return order.some((i) => this.laws[this.word(i)]); }

  // Compute some steps from what the earlier ones have in `x`; `x[0]` is the population.
  run(order, x) {
    const { functions, inPlace, parts, a, b, c } = this;
    for (let k = 0; k < order.length; k++) {
      const i = order[k];
      switch (inPlace[i]) {
        case 1: x[i] = x[a[i]] + x[b[i]]; break;
        case 2: x[i] = x[a[i]] - x[b[i]]; break;
        case 3: x[i] = x[a[i]] * x[b[i]]; break;
        case 4: x[i] = x[b[i]] === 0 ? NaN : x[a[i]] / x[b[i]]; break;
        default: if (functions[i]) x[i] = parts[i].length > 3 ? functions[i](...parts[i].map((part) => x[part])) : functions[i](x[a[i]], x[b[i]], x[c[i]]);
      }
    }
  }

  // The same for many populations: `rows[i]` holds a step's value at each of them.
  runMany(order, x, rows, count) {
    const { functions, inPlace, parts, a, b, c } = this;
    const constant = new Map();
    const row = (i) => {
      if (this.moving[i]) return rows[i];
      if (!constant.has(i)) constant.set(i, new Float64Array(count).fill(x[i]));
      return constant.get(i);
    };
    for (let k = 0; k < order.length; k++) {
      const i = order[k], value = functions[i];
      if (!value) continue;
      const out = (rows[i] ??= new Float64Array(count));
      const many = parts[i].length;
      if (many > 3) {
        const all = parts[i].map(row);
        for (let j = 0; j < count; j++) out[j] = value(...all.map((one) => one[j]));
        continue;
      }
      const first = row(a[i]), second = many > 1 ? row(b[i]) : first, third = many > 2 ? row(c[i]) : first;
      switch (inPlace[i]) {
        case 1: for (let j = 0; j < count; j++) out[j] = first[j] + second[j]; break;
        case 2: for (let j = 0; j < count; j++) out[j] = first[j] - second[j]; break;
        case 3: for (let j = 0; j < count; j++) out[j] = first[j] * second[j]; break;
        case 4: for (let j = 0; j < count; j++) out[j] = second[j] === 0 ? NaN : first[j] / second[j]; break;
        default: for (let j = 0; j < count; j++) out[j] = value(first[j], second[j], third[j]);
      }
    }
  }

  // The derivatives of one step by all others, into `slope`, at the values in `x`; in slices, between which nobody else may write there.
  differentiate(order, output, x, slope) { finished(this.differentiating(order, output, x, slope)); }

  * differentiating(order, output, x, slope) {
    for (let k = 0; k < order.length; k++) slope[order[k]] = 0;
    slope[output] = 1;
    for (let k = order.length - 1; k >= 0; k--) {
      const i = order[k], s = slope[i], parts = this.parts[i];
      if (s === 0 || !parts.length) continue;
      const word = this.word(i), law = this.laws[word];
      const rates = yield* slopesInSlices(word, this.valueOf(word), parts.map((part) => x[part]), x[i], law, (m) => this.constant[parts[m]]);
      parts.forEach((part, m) => { slope[part] += s * rates[m]; });
    }
  }
}
