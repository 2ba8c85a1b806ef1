// The tail of the wait of N D/D/1, equal periodic flows, in work that does not grow with N: see
// `engine/queueing/periodic_arrays.py`. P(V > x) is a sum of positive terms, smooth but at its ends: some at
// each end are added one by one, the rest is an integral joined with Gregory's corrections.

import { logGamma, stirlingRest } from "../numerics/gamma.js";
import { RULE } from "../numerics/roots.js";

const ENDS = 24, JOINT = 4; // terms added one by one at each end; those that join the integral, either side
const SCANNED = 25, NOTHING = 42, WIDEST = 3;
const FEW_RESTS = [0, ...Array.from({ length: 15 }, (_, k) => restOf(k + 1))];

function restOf(m) { return logGamma(m + 1) - (m + 0.5) * Math.log(m) + m - Math.log(2 * Math.PI) / 2; }

// What a sum has more than the integral between halves, in central differences of its terms.
const AT_JOINT = (() => {
  const weights = new Float64Array(2 * JOINT);
  let difference = [-1, 1];
  for (const coefficient of [1 / 24, -17 / 5760, 367 / 967680, -27859 / 464486400]) {
    const start = JOINT - difference.length / 2;
    difference.forEach((one, k) => { weights[start + k] += coefficient * one; });
    difference = differenceOf(differenceOf(difference));
  }
  return weights;
})();

function differenceOf(values) { return [0, ...values].map((one, k) => one - (values[k] ?? 0)); }

// What is left of the logarithm of m! by Stirling's formula, m whole where it is small.
function rest(m) { return m < 16 ? FEW_RESTS[m] : stirlingRest(m); }

function logOf(less, added) { return less < -0.5 ? Math.log(added) : Math.log1p(less); }

// P(V > work) of so many flows in a period of service times, and its slope by the work.
function unfinished(flows, spare, work) {
  const period = flows + spare, head = spare + work;
  const constant = Math.log(head) + rest(flows) + Math.log(flows / (2 * Math.PI)) / 2;
  // The logarithm of the binomial share of m visits in a time of m - work, times head/left.
  const logarithm = (m) => {
    const others = flows - m, left = period - m + work;
    if (others === 0) return flows * logOf(-head / period, (flows - work) / period); // Stirling's formula has no 0!
    const apart = (m * spare + flows * work) / period;
    const bent = m * logOf(-apart / m, (flows * (m - work)) / (period * m)) + others * Math.log1p(apart / others);
    return bent + constant - rest(m) - rest(others) - Math.log(m * others * (left * left)) / 2;
  };
  let share = 0, slope = 0;
  const add = (m, size) => {
    const term = size * Math.exp(logarithm(m));
    if (!term) return;
    share += term;
    slope += term * (1 / head - (head + 1) / (period - m + work) - work / (m - work));
  };
  const first = Math.floor(work) + 1;
  if (flows - first < 2 * (ENDS + JOINT)) {
    for (let m = first; m <= flows; m++) add(m, 1);
    return [share, slope];
  }
  for (let k = 0; k < ENDS + JOINT; k++) {
    const size = (k < ENDS ? 1 : 0) + (k < ENDS - JOINT ? 0 : AT_JOINT[k - ENDS + JOINT]);
    add(first + k, size);
    add(flows - k, size); // the corrections are odd, and so is the direction
  }
  // The integral, over the logits of m where it is more than nothing.
  const whole = flows + 1 - work, logit = (m) => Math.log((m - work) / (flows + 1 - m));
  const point = (at) => {
    const part = 1 / (1 + Math.exp(-at));
    return [work + whole * part, whole * part * (1 - part)];
  };
  const low = logit(first + ENDS - 0.5), high = logit(flows - ENDS + 0.5), step = (high - low) / (SCANNED - 1);
  const heights = Array.from({ length: SCANNED }, (_, k) => {
    const [m, growth] = point(low + k * step);
    return logarithm(m) + Math.log(growth);
  });
  const least = Math.max(...heights) - NOTHING;
  const begin = Math.max(0, heights.findIndex((height) => height > least) - 1);
  const end = Math.min(SCANNED - 1, heights.findLastIndex((height) => height > least) + 1);
  const pieces = Math.ceil(((end - begin) * step) / WIDEST), length = ((end - begin) * step) / pieces;
  for (let k = 0; k < pieces; k++) {
    const from = low + begin * step + k * length;
    for (const [node, weight] of RULE) {
      const [m, growth] = point(from + length * node);
      add(m, weight * length * growth);
    }
  }
  return [share, slope];
}

// What an arrival at some load finds of the other flows: in a period of flows/load service times.
function spareOf(flows, load) { return flows * ((1 - load) / load) + 1; }

export function periodicShare(flows, load, time) { return unfinished(flows - 1, spareOf(flows, load), time)[0]; }

// By how much the logarithm of the tail exceeds what a level leaves, with its slope; and where to start: as
// of a Brownian bridge, with the tail that many flows have.
export function periodicExcess(flows, load, level, logGrowth) {
  const others = flows - 1, spare = spareOf(flows, load), goal = -Math.log1p(-level);
  const busy = others / (others + spare), decay = logGrowth(busy, 0);
  const near = Math.max(goal + Math.log((1 - busy) / (decay - (1 - busy))), goal / 8);
  const start = (2 * near) / (decay + Math.sqrt(decay * decay + (8 * near) / others));
  const excess = (time) => {
    if (time >= others) return [-Infinity, 0];
    const [share, slope] = unfinished(others, spare, time);
    return [Math.log(share) + goal, slope / share];
  };
  return { excess, start: Math.min(start, others / 2) };
}
