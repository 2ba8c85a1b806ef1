// The program in exact fractions, at one population: for the last doubt about which side of a
// limit a value lies on. What has no exact value is null, and so is what rests on it.

import { floorOf, powerOf, quotient, reduced, rootOf } from "./fractions.js";

export class ExactRun {
  // `values` maps the step of each number to a fraction [above, below].
  constructor(program, values, population) {
    this.program = program;
    this.known = new Map(values);
    this.known.set(0, [BigInt(population), 1n]);
  }

  // The value of a step as a fraction; null where it has no exact value or is not finite.
  number(output) {
    for (const i of this.program.needed([output]).all) if (!this.known.has(i)) this.known.set(i, this.value(i));
    const found = this.known.get(output);
    return found === null || found[1] === 0n ? null : found;
  }

  // The sign of a step: -1, 0 or 1, null as above.
  sign(output) {
    const found = this.number(output);
    return found === null ? null : found[0] > 0n ? 1 : found[0] < 0n ? -1 : 0;
  }

  value(i) {
    const [word, ...told] = this.program.steps[i];
    if (word === "number") return told.map(BigInt);
    return exactly(word, this.program.parts[i].map((part) => this.known.get(part)));
  }
}

// An operation on fractions; infinities are for arithmetic alone.
export function exactly(word, parts) {
  if (!EXACT[word] || parts.includes(null) || !(ARITHMETIC[word] || parts.every((part) => part[1]))) return null;
  return EXACT[word](...parts);
}

const ZERO = [0n, 1n], ONE = [1n, 1n], HALF = [1n, 2n], INFINITE = [1n, 0n];
const MOST_SERVERS = 64n, MOST_COUNTED = 1000n;

function compared(p, q) { return p[1] || q[1] ? p[0] * q[1] - q[0] * p[1] : p[0] - q[0]; }
function isLess(p, q) { return compared(p, q) < 0n; }
function isWhole(p) { return p[1] === 1n; }
function inverse([above, below]) { return above < 0n ? [-below, -above] : [below, above]; }
function less(p, q) { return ARITHMETIC["+"](p, [-q[0], q[1]]); }
function times(p, q) { return reduced(p[0] * q[0], p[1] * q[1]); }

const ARITHMETIC = {
  "+": (p, q) => (p[1] || q[1] ? reduced(p[0] * q[1] + q[0] * p[1], p[1] * q[1]) : p[0] === q[0] ? p : null),
  "-": less,
  "*": times,
  "/": (p, q) => (q[0] ? times(p, inverse(q)) : null),
  ratio: (p, q) => (q[0] ? times(p, inverse(q)) : INFINITE),
  mean: (p, q) => (q[0] ? times(p, inverse(q)) : ZERO),
  waiting: (p, q) => (isLess(q, ONE) ? times(p, inverse(less(ONE, q))) : INFINITE),
  max: (p, q) => (isLess(p, q) ? q : p),
  min: (p, q) => (isLess(p, q) ? p : q),
  abs: (p) => (p[0] < 0n ? [-p[0], p[1]] : p),
  "^": (p, q) => powerOf(p, quotient(...q)),
};

// A function that is a fraction at one point alone.
function only(at, value) { return (p) => (compared(p, at) ? null : value); }

const EXACT = {
  ...ARITHMETIC,
  pow: (p, q) => {
    if (p[0] === 0n) return q[0] > 0n ? ZERO : q[0] ? null : ONE;
    const root = isWhole(q) ? p : q[1] <= 64n ? rootOf(p, Number(q[1])) : null;
    return root && powerOf(root, Number(q[0]));
  },
  sqrt: (p) => rootOf(p, 2),
  floor: (p) => [floorOf(p), 1n],
  ceil: (p) => [-floorOf([-p[0], p[1]]), 1n],
  exp: only(ZERO, ONE),
  ln: only(ONE, ZERO),
  cos: only(ZERO, ONE),
  acos: only(ONE, ZERO),
  w: only(ZERO, ZERO),
  normal_tail: only(ZERO, HALF),
  normal_quantile: only(HALF, ZERO),
  harmonic: (p) => {
    if (!isWhole(p) || p[0] < 0n || p[0] > MOST_COUNTED) return null;
    let sum = ZERO;
    for (let k = 1n; k <= p[0]; k++) sum = ARITHMETIC["+"](sum, [1n, k]);
    return sum;
  },
  effective: (cores, kept) => {
    if (cores[0] <= 0n || kept[0] < 0n) return null;
    const doublings = logarithm(cores), halvings = kept[0] ? logarithm(kept) : null; // c e^(log2 c) is c c^(log2 e)
    const share = doublings !== null ? powerOf(kept, doublings) : halvings !== null ? powerOf(cores, halvings) : null;
    return mapped(share, (own) => times(cores, own));
  },
  erlang_b: (servers, traffic) => mapped(inverseB(servers, traffic), inverse),
  erlang_c: (servers, traffic) => {
    if (servers[0] <= 0n || traffic[0] < 0n) return null;
    if (!isLess(traffic, servers)) return ONE;
    return mapped(inverseB(servers, traffic), (found) => (found[1] ? inverse(less(found, times(times(traffic, inverse(servers)), less(found, ONE)))) : ZERO));
  },
  periodic_wait: (flows, load) => {
    if (load[0] < 0n) return null;
    if (!isLess(load, ONE)) return INFINITE;
    if (!isLess(ONE, flows) || load[0] === 0n) return ZERO;
    return mapped(inverseB(less(flows, ONE), times(flows, inverse(load))), (found) => times(less(found, ONE), HALF));
  },
  md1_tail: (load, time) => {
    if (load[0] < 0n) return null;
    if (!isLess(load, ONE) || time[0] < 0n) return ONE;
    return time[0] === 0n ? load : load[0] === 0n ? ZERO : null;
  },
};

function mapped(value, f) { return value && f(value); }

// The logarithm to base 2 of a power of it; null of what is none.
function logarithm(p) {
  if (p.some((part) => part & (part - 1n))) return null;
  return p[0].toString(2).length - p[1].toString(2).length;
}

// 1/B of Erlang's formula, for up to 64 servers.
function inverseB(servers, traffic) {
  if (servers[0] < 0n || traffic[0] < 0n) return null;
  if (traffic[0] === 0n) return servers[0] ? INFINITE : ONE;
  if (!isWhole(servers) || servers[0] > MOST_SERVERS) return null;
  let total = ONE;
  for (let k = 1n; k <= servers[0]; k++) total = ARITHMETIC["+"](ONE, times(total, [k * traffic[1], traffic[0]]));
  return total;
}
