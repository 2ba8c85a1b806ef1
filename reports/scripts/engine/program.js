// The model's program: steps such as ["*", 3, 7], each working on earlier ones.
// Runs it for one population, for many at once, and backwards for its derivatives.

import { quotient } from "./fractions.js";
import { QUEUE_FUNCTIONS, waiting } from "./queues.js";

export const CODES = [
  "n", "number", "float", "value", "+", "-", "*", "/", "ratio", "^", "pow", "sqrt",
  "max", "min", "abs", "ceil", "floor", "exp", "ln", "w", "lower_w", "cos", "acos",
  "mean", "waiting", "effective", ...Object.keys(QUEUE_FUNCTIONS),
];
const TWO = new Set(["+", "-", "*", "/", "ratio", "pow", "max", "min", "mean", "waiting", "effective"]);
export const PARTS = Uint8Array.from(CODES, (word) => QUEUE_FUNCTIONS[word]?.length ?? (TWO.has(word) ? 2 : 1));
export const OP = Object.fromEntries(CODES.map((word, code) => [word, code]));
const OF_QUEUES = Object.values(QUEUE_FUNCTIONS);
const FIRST_OF_QUEUES = CODES.length - OF_QUEUES.length;

// The steps as arrays of numbers. `moving` marks those that depend on the population.
export class Program {
  constructor(steps) {
    this.size = steps.length;
    this.steps = steps;
    this.code = new Uint8Array(this.size);
    this.a = new Int32Array(this.size);
    this.b = new Int32Array(this.size);
    this.c = new Int32Array(this.size);
    this.fixedValue = new Float64Array(this.size);
    this.moving = new Uint8Array(this.size);
    this.stepOfValue = new Map();
    this.orders = new Map();
    steps.forEach((step, i) => this.read(step, i));
  }

  read([word, first, second, third], i) {
    const code = OP[word];
    if (code === undefined) throw new Error(`unknown step ${word}`);
    this.code[i] = code;
    if (code === OP.n) this.moving[i] = 1;
    else if (code === OP.number) this.fixedValue[i] = quotient(BigInt(first), BigInt(second));
    else if (code === OP.float) this.fixedValue[i] = first;
    else if (code === OP.value) this.stepOfValue.set(first, i);
    else {
      this.a[i] = first;
      this.b[i] = second ?? 0;
      this.c[i] = third ?? 0;
      this.moving[i] = this.partsOf(i).some((part) => this.moving[part]) ? 1 : 0;
    }
  }

  // The steps that a step works on.
  partsOf(i) { return [this.a[i], this.b[i], this.c[i]].slice(0, PARTS[this.code[i]]); }

  // The steps that some steps rest on, in the order in which they run: fixed ones, moving ones.
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
      if (this.code[i] >= OP["+"]) open.push(...this.partsOf(i));
    }
    const fixed = [], moving = [];
    for (let i = 0; i < this.size; i++) if (marked[i]) (this.moving[i] ? moving : fixed).push(i);
    return { fixed: Int32Array.from(fixed), moving: Int32Array.from(moving) };
  }

  // Whether any of some steps is a number of queues.
  countsQueues(order) { return order.some((i) => isOfQueues(this.code[i])); }

  // Compute some steps from what the earlier ones have in `x`; `x[0]` is the population.
  run(order, x) {
    const { code, a, b, c } = this;
    for (let k = 0; k < order.length; k++) {
      const i = order[k];
      switch (code[i]) {
        case OP.n: case OP.value: break;
        case OP.number: case OP.float: x[i] = this.fixedValue[i]; break;
        case OP["+"]: x[i] = x[a[i]] + x[b[i]]; break;
        case OP["-"]: x[i] = x[a[i]] - x[b[i]]; break;
        case OP["*"]: x[i] = x[a[i]] * x[b[i]]; break;
        case OP["/"]: x[i] = x[a[i]] / x[b[i]]; break;
        case OP.max: x[i] = Math.max(x[a[i]], x[b[i]]); break;
        case OP.min: x[i] = Math.min(x[a[i]], x[b[i]]); break;
        case OP["^"]: x[i] = power(x[a[i]], b[i]); break;
        default: x[i] = applied(code[i], x[a[i]], x[b[i]], x[c[i]]);
      }
    }
  }

  // The same for many populations: `rows[i]` holds a step's value at each of them.
  runMany(order, x, rows, count) {
    const { code, a, b, c } = this;
    const constant = new Map();
    const row = (i) => {
      if (this.moving[i]) return rows[i];
      if (!constant.has(i)) constant.set(i, new Float64Array(count).fill(x[i]));
      return constant.get(i);
    };
    for (let k = 0; k < order.length; k++) {
      const i = order[k];
      if (code[i] === OP.n) continue;
      const out = (rows[i] ??= new Float64Array(count));
      const parts = PARTS[code[i]], left = row(a[i]);
      const right = parts > 1 ? row(b[i]) : left, third = parts > 2 ? row(c[i]) : left;
      switch (code[i]) {
        case OP["+"]: for (let j = 0; j < count; j++) out[j] = left[j] + right[j]; break;
        case OP["-"]: for (let j = 0; j < count; j++) out[j] = left[j] - right[j]; break;
        case OP["*"]: for (let j = 0; j < count; j++) out[j] = left[j] * right[j]; break;
        case OP["/"]: for (let j = 0; j < count; j++) out[j] = left[j] / right[j]; break;
        case OP.max: for (let j = 0; j < count; j++) out[j] = Math.max(left[j], right[j]); break;
        case OP.min: for (let j = 0; j < count; j++) out[j] = Math.min(left[j], right[j]); break;
        case OP["^"]: for (let j = 0; j < count; j++) out[j] = power(left[j], b[i]); break;
        default: for (let j = 0; j < count; j++) out[j] = applied(code[i], left[j], right[j], third[j]);
      }
    }
  }

  // The derivatives of one step by all others, into `slope`, at the values in `x`.
  differentiate(order, output, x, slope) {
    const { code, a, b, c } = this;
    for (let k = 0; k < order.length; k++) slope[order[k]] = 0;
    slope[output] = 1;
    for (let k = order.length - 1; k >= 0; k--) {
      const i = order[k], s = slope[i];
      if (s === 0 || code[i] < OP["+"]) continue;
      const rates = isOfQueues(code[i])
        ? nudges(code[i], this.partsOf(i).map((part) => x[part]))
        : partials(code[i], x[a[i]], x[b[i]], x[i], b[i]);
      slope[a[i]] += s * rates[0];
      if (PARTS[code[i]] > 1) slope[b[i]] += s * rates[1];
      if (PARTS[code[i]] > 2) slope[c[i]] += s * rates[2];
    }
  }
}

export function isOfQueues(code) { return code >= FIRST_OF_QUEUES; }

export function applied(code, a, b, c) {
  if (isOfQueues(code)) return OF_QUEUES[code - FIRST_OF_QUEUES](a, b, c);
  switch (code) {
    case OP.ratio: return b === 0 ? Infinity : a / b; // as the language has it: no bound
    case OP.pow: return Math.pow(a, b);
    case OP.sqrt: return Math.sqrt(a);
    case OP.abs: return Math.abs(a);
    case OP.ceil: return isNearlyWhole(a) ? Math.round(a) : Math.ceil(a);
    case OP.floor: return isNearlyWhole(a) ? Math.round(a) : Math.floor(a);
    case OP.exp: return Math.exp(a);
    case OP.ln: return Math.log(a);
    case OP.w: return lambertW(a);
    case OP.lower_w: return lowerLambertW(a);
    case OP.cos: return Math.cos(a);
    case OP.acos: return Math.acos(a);
    case OP.mean: return b === 0 ? 0 : a / b;
    case OP.waiting: return waiting(a, b);
    case OP.effective: return a * Math.pow(b, Math.log2(a)); // cores, and what a doubling keeps
    default: throw new Error(`no step has the code ${code}`);
  }
}

// 0.07 times 100 is 7.000000000000001 in floats: rounded up as it stands, it would be 8.
function isNearlyWhole(a) { return Math.abs(a - Math.round(a)) <= 1e-13 * Math.abs(a); }

function partials(code, a, b, value, exponent) {
  switch (code) {
    case OP["+"]: return [1, 1];
    case OP["-"]: return [1, -1];
    case OP["*"]: return [b, a];
    case OP["/"]: case OP.ratio: case OP.mean: return [1 / b, -a / (b * b)];
    case OP.waiting: return [1 / (1 - b), a / ((1 - b) * (1 - b))];
    case OP.effective: return [value / a * (1 + Math.log2(b)), value / b * Math.log2(a)];
    case OP["^"]: return [exponent * power(a, exponent - 1), 0];
    case OP.pow: return [b * Math.pow(a, b - 1), a > 0 ? value * Math.log(a) : 0];
    case OP.sqrt: return [0.5 / value, 0];
    case OP.max: return a >= b ? [1, 0] : [0, 1];
    case OP.min: return a <= b ? [1, 0] : [0, 1];
    case OP.abs: return [Math.sign(a), 0];
    case OP.exp: return [value, 0];
    case OP.ln: return [1 / a, 0];
    case OP.cos: return [-Math.sin(a), 0];
    case OP.acos: return [-1 / Math.sqrt(1 - a * a), 0];
    case OP.w: case OP.lower_w: return [1 / (Math.exp(value) * (1 + value)), 0];
    default: return [0, 0]; // roundings are flat, but where they jump
  }
}

// Derivatives as quotients of small differences.
function nudges(code, parts) {
  return parts.map((at, k) => {
    const step = at * 1e-5;
    return (applied(code, ...parts.with(k, at + step)) - applied(code, ...parts.with(k, at - step))) / (2 * step);
  });
}

// A whole power by multiplication: exact where its factors are, as Math.pow need not be.
export function power(base, exponent) {
  if (exponent === 2) return base * base;
  if (exponent < 0) return 1 / power(base, -exponent);
  let result = 1;
  for (let rest = exponent, square = base; rest; rest = Math.floor(rest / 2), square *= square) {
    if (rest % 2) result *= square;
  }
  return result;
}

// Lambert's W, the inverse of w * exp(w), by Halley's method (Corless and others, 1996, 5.9).
export function lambertW(x) {
  if (x === Infinity) return Infinity;
  const root = 2 * (Math.E * x + 1);
  if (!(root >= 0)) return root > -1e-15 ? -1 : NaN;
  const near = Math.sqrt(root);
  const start = x < 0.25 ? -1 + near - (near * near) / 3 + (11 / 72) * near ** 3 : Math.log1p(x) * 0.7;
  return halley(x, start);
}

export function lowerLambertW(x) {
  const root = 2 * (Math.E * x + 1);
  if (!(x < 0) || !(root >= 0)) return x === 0 ? -Infinity : root > -1e-15 && x < 0 ? -1 : NaN;
  const near = Math.sqrt(root);
  const far = Math.log(-x);
  return halley(x, x > -0.25 ? far - Math.log(-far) : -1 - near - (near * near) / 3);
}

function halley(x, start) {
  let w = start;
  for (let turn = 0; turn < 50; turn++) {
    const e = Math.exp(w), off = w * e - x;
    if (off === 0 || w === -1) return w;
    const step = off / (e * (w + 1) - ((w + 2) * off) / (2 * w + 2));
    w -= step;
    if (Math.abs(step) <= 2e-16 * Math.abs(w)) return w;
  }
  return w;
}
