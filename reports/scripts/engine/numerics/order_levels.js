// At which level of one of n equal times the k-th shortest is at a level of its own: `engine/distributions/order_levels.py` tells how.

import { logGamma } from "./gamma.js";

const MOST_TERMS = 2000, MOST_STEPS = 200, ENOUGH = 2e-16, NEXT_TO = 1e-14, LEAST = 1e-300;

export function orderLevel(level, answers, spare) {
  if (!(level >= 0 && level < 1 && answers >= 1 && answers < Infinity && spare >= 0 && spare < Infinity)) return NaN;
  if (!level) return 0;
  return spare ? inverse(level, answers, spare + 1) : Math.exp(Math.log(level) / answers);
}

// With which probability answers are missing at a time that a share of calls exceeds.
export function shareOfOrders(share, answers, spare) {
  if (share <= 0) return 0;
  if (share >= 1) return 1;
  return spare ? regularizedBeta(share, spare + 1, answers) : -Math.expm1(answers * Math.log1p(-share));
}

// The slope of that by the share.
export function orderDensity(share, answers, spare) {
  return Math.exp(Math.min(700, spare * Math.log(share) + (answers - 1) * Math.log1p(-share) - logBeta(spare + 1, answers)));
}

function logBeta(a, b) { return logGamma(a) + logGamma(b) - logGamma(a + b); }

function regularizedBeta(x, a, b) {
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta(a, b));
  return x < (a + 1) / (a + b + 2) ? (front * fraction(x, a, b)) / a : 1 - (front * fraction(1 - x, b, a)) / b;
}

const away = (value) => (Math.abs(value) > LEAST ? value : LEAST);

// Its continued fraction, by the method of Lentz.
function fraction(x, a, b) {
  let c = 1, d = 1 / away(1 - ((a + b) * x) / (a + 1)), found = d;
  for (let m = 1; m < MOST_TERMS; m++) {
    for (const term of [(m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)), (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))]) {
      d = 1 / away(1 + term * d);
      c = away(1 + term / c);
      found *= c * d;
    }
    if (Math.abs(c * d - 1) <= ENOUGH) break;
  }
  return found;
}

function inverse(level, a, b) {
  let low = 0, high = 1, x = a / (a + b);
  for (let step = 0; step < MOST_STEPS; step++) {
    const excess = regularizedBeta(x, a, b) - level;
    if (excess < 0) low = x;
    else high = x;
    const slope = Math.exp((a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x) - logBeta(a, b));
    let after = slope > 0 ? x - excess / slope : low;
    if (!(low < after && after < high)) after = (low + high) / 2;
    if (Math.abs(after - x) <= NEXT_TO * x || high - low <= NEXT_TO * high) return after;
    x = after;
  }
  return x;
}
