// What each operation does to floats, by its word: the page's column of the table in
// `engine/operations.py`, whose law holds it to the others. What has no value is not-a-number.

import { QUEUES } from "./queues.js";

export const VALUES = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "^": wholePower,
  pow: (a, b) => ((a === 0 && b < 0) || (a < 0 && !Number.isInteger(b)) ? NaN : a === 1 && b === b ? 1 : Math.pow(a, b)),
  ratio: (a, b) => (b === 0 && a === a ? Infinity : a / b), // as the language has it: no bound
  mean: (a, b) => (b === 0 && a === a ? 0 : a / b),
  waiting: (work, load) => (load >= 1 && work === work ? Infinity : work / (1 - load)),
  max: (a, b) => Math.max(a, b),
  min: (a, b) => Math.min(a, b),
  abs: Math.abs,
  sqrt: Math.sqrt,
  exp: Math.exp,
  ln: (a) => (a > 0 ? Math.log(a) : NaN),
  cos: Math.cos,
  acos: Math.acos,
  floor: (a) => (isNearlyWhole(a) ? Math.round(a) : Math.floor(a)),
  ceil: (a) => (isNearlyWhole(a) ? Math.round(a) : Math.ceil(a)),
  w: (a) => lambert(a, 1),
  lower_w: (a) => (a < 0 ? lambert(a, -1) : NaN),
  effective: (cores, kept) => (cores > 0 && kept >= 0 ? cores * VALUES.pow(kept, Math.log2(cores)) : NaN), // of each doubling
  ...QUEUES,
};

// How fast a value changes with each of its operands; of what is not here, differences tell.
const SLOPES = {
  "+": () => [1, 1],
  "-": () => [1, -1],
  "*": (a, b) => [b, a],
  "/": quotientSlopes,
  "^": (a, b) => [b * wholePower(a, b - 1), 0],
  pow: (a, b, value) => [b * Math.pow(a, b - 1), a > 0 ? value * Math.log(a) : 0],
  ratio: quotientSlopes,
  mean: quotientSlopes,
  waiting: (work, load) => (load < 1 ? [1 / (1 - load), work / ((1 - load) * (1 - load))] : [NaN, NaN]),
  max: (a, b) => (a >= b ? [1, 0] : [0, 1]),
  min: (a, b) => (a <= b ? [1, 0] : [0, 1]),
  abs: (a) => [Math.sign(a)],
  sqrt: (a, b, value) => [0.5 / value],
  exp: (a, b, value) => [value],
  ln: (a) => [1 / a],
  cos: (a) => [-Math.sin(a)],
  acos: (a) => [-1 / Math.sqrt(1 - a * a)],
  floor: () => [0], // but where they jump
  ceil: () => [0],
  w: (a, b, value) => [1 / (Math.exp(value) * (1 + value))],
  lower_w: (a, b, value) => [-1 / (Math.exp(value) * (-1 - value))], // without end downwards at its branch point
  effective: (a, b, value) => [value / a * (1 + Math.log2(b)), value / b * Math.log2(a)],
};

// By operands in the places of `whole`, which count whole, there is none.
export function slopesOf(word, operands, value, whole = []) {
  const own = SLOPES[word];
  return own ? own(operands[0], operands[1], value) : operands.map((_, k) => (whole.includes(k) ? NaN : difference(VALUES[word], operands, k)));
}

const STENCIL = [[2, -1 / 12], [1, 2 / 3], [-1, -2 / 3], [-2, 1 / 12]];

// A slope by differences of the fourth order.
function difference(value, operands, k) {
  const step = (Math.abs(operands[k]) || 1) * 1e-5;
  return STENCIL.reduce((sum, [steps, weight]) => sum + weight * value(...operands.with(k, operands[k] + steps * step)), 0) / step;
}

function quotientSlopes(a, b) { return [1 / b, -a / (b * b)]; }

// 0.07 times 100 is 7.000000000000001 in floats: rounded up as it stands, it would be 8.
function isNearlyWhole(a) { return Math.abs(a - Math.round(a)) <= 1e-13 * Math.abs(a); }

// A whole power by multiplication: exact where its factors are, as Math.pow need not be.
function wholePower(base, exponent) {
  if (exponent === 2) return base * base;
  if (exponent < 0) return 1 / wholePower(base, -exponent);
  let result = 1;
  for (let rest = exponent, square = base; rest; rest = Math.floor(rest / 2), square *= square) {
    if (rest % 2) result *= square;
  }
  return result;
}

const ONE_OVER_E = [0.36787944117144233, -1.2428753672788363e-17]; // as a float, and what it lacks
const AT_BRANCH = [-1, 1, -1 / 3, 11 / 72, -43 / 540, 769 / 17280, -221 / 8505]; // by powers of sqrt(2 (1 + e x))

// Lambert's W, the inverse of w exp(w): its upper branch, or its lower one (`side` -1).
function lambert(x, side) {
  if (x === 0 || x === Infinity) return x;
  if (!(x >= -ONE_OVER_E[0])) return NaN;
  const apart = side * Math.sqrt(Math.max(2 * Math.E * (x + ONE_OVER_E[0] + ONE_OVER_E[1]), 0));
  const near = AT_BRANCH.reduceRight((sum, one) => sum * apart + one, 0);
  if (Math.abs(apart) < 0.01) return near;
  if (x < -0.25) return byFritsch(x, near);
  const far = Math.log(side * x), log = Math.log(side * far);
  if (side < 0) return byFritsch(x, far - log + log / far);
  return byFritsch(x, x < 0 ? x * (1 - x) : x < Math.E ? Math.log1p(x) : far - log);
}

// Fritsch, Shafer and Crowley 1973: of the fourth order.
function byFritsch(x, start) {
  let w = start;
  for (let turn = 0; turn < 3; turn++) {
    const z = Math.log(x / w) - w, beside = 1 + w, q = 2 * beside * (beside + (2 / 3) * z);
    w *= 1 + (z / beside) * ((q - z) / (q - 2 * z));
  }
  return w;
}
