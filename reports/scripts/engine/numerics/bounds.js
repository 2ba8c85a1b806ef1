// Bounds of steps from those of the steps that they work on (Moore, Kearfott and Cloud 2009, Introduction to Interval
// Analysis, chapters 5 and 6): of their values, and of how fast they rise. `boxes` holds both, and takes what is found.

import { isLess } from "./fractions.js";
import { expandedPlaces, foundTogether, valuesOfEach } from "./operand_groups.js";

export const NOTHING = [NaN, NaN]; // anything may be

// The bounds of what rises or falls with each of its parts, all over; nothing, where one moves with which it may do either. A gamma law
// grows with its shape 1/v and its scale m v: of all within bounds none is longer than that of the largest both (see
// `engine/evaluators/on_intervals.py`, also for shares that are found together).
export function monotone(value, parts, law) {
  const grows = valuesOfEach(law, parts.length), off = law.part ?? 0, variations = law.gammas ? expandedPlaces(law.gammas, law, parts.length) : [];
  const together = foundTogether(law, parts);
  const free = parts.filter((_, k) => grows[k] === 0 && !variations.includes(k)), varied = variations.map((k) => parts[k]);
  const at = (from, to) => {
    const found = parts.map((part, k) => (grows[k] < 0 ? from : to)[part]);
    for (const [first, second, both, servers] of together) if (!found[servers] && found[both] > 0) found[first] = Math.max(found[both] - found[second], 0);
    for (const k of variations) {
      found[k] = from[parts[k]];
      if (found[k] !== to[parts[k]]) found[k - 1] *= to[parts[k]] / found[k];
    }
    return value(...found);
  };
  return (boxes, i) => {
    const { low, high, slow, steep } = boxes;
    const isOpen = free.some((part) => low[part] !== high[part]) || varied.some((part) => low[part] !== high[part] && !(low[part] > 0));
    boxes.keep(i, isOpen ? NOTHING : [at(high, low) * (1 - off), at(low, high) * (1 + off)]);
    let least = 0, most = 0;
    const rests = together.filter(([, , both, servers]) => !high[parts[servers]] && high[parts[both]] > 0).map(([first]) => first);
    parts.forEach((part, k) => {
      if (rests.includes(k)) return;
      times(slow[part], steep[part], grows[k] > 0 ? 0 : -Infinity, grows[k] < 0 ? 0 : Infinity);
      least += pair[0];
      most += pair[1];
    });
    boxes.slope(i, [least, most]);
  };
}

export function quotientOf(boxes, i, p, q) {
  const { low, high, slow, steep } = boxes;
  boxes.keep(i, over(low[p], high[p], low[q], high[q]));
  const bend = times(low[i], high[i], slow[q], steep[q]);
  boxes.slope(i, over(slow[p] - bend[1], steep[p] - bend[0], low[q], high[q]));
}

// The larger of two (`sign` 1) or the smaller (-1).
export function extreme(pick, sign) {
  const bounds = ({ low, high, slow, steep }, i, p, q) => {
    low[i] = pick(low[p], low[q]); high[i] = pick(high[p], high[q]);
    const one = (sign > 0 ? low[q] >= high[p] : high[q] <= low[p]) ? q : p; // it alone counts
    const other = (sign > 0 ? low[p] >= high[q] : high[p] <= low[q]) ? p : q;
    slow[i] = Math.min(slow[one], slow[other]); steep[i] = Math.max(steep[one], steep[other]);
  };
  const value = (a, b) => pick(a, b), slopes = (a, b) => (sign * a >= sign * b ? [1, 0] : [0, 1]);
  return { value, slopes, bounds, exact: (p, q) => (isLess(p, q) === sign > 0 ? q : p), endless: true };
}

// An operation that rounds, by at most so much: 0.07 times 100 is 7.000000000000001 in floats, and would be 8 as it stands.
export function rounded(round, [down, up], exact) {
  const value = (a) => (Math.abs(a - Math.round(a)) <= 1e-13 * Math.abs(a) ? Math.round(a) : round(a));
  return {
    value,
    slopes: () => [0], // but where it jumps
    bounds(boxes, i, p) {
      const { relaxed, low: { [p]: from }, high: { [p]: to } } = boxes, ends = relaxed ? [from + down, to + up] : [value(from), value(to)];
      boxes.keep(i, ends);
      boxes.by(i, p, relaxed ? [1, 1] : ends[0] === ends[1] ? [0, 0] : [0, Infinity]);
    },
    exact,
  };
}

// A function that rises or falls, its slope too, but where its value is `turn`: there the slope is `rate`.
export function bent(row, { turn = NaN, rate = 0, atEnd = row.value } = {}) {
  const bounds = (boxes, i, p) => {
    const at = [boxes.low[p], boxes.high[p]], ends = at.map(atEnd), found = sorted(ends);
    const rates = at.map((one, k) => row.slopes(one, NaN, ends[k])[0]);
    boxes.keep(i, found);
    boxes.by(i, p, sorted(found[0] <= turn && turn <= found[1] ? [...rates, rate] : rates));
  };
  return { ...row, bounds };
}

// What has no slopes in a box, and is told of a point to nine digits: else by `ends` of the least and the greatest of its parts, which
// are null or NaN where nothing is known.
export function atPointElse(ends) {
  return (value) => (boxes, i) => {
    const parts = boxes.program.parts[i], lows = parts.map((part) => boxes.low[part]), highs = parts.map((part) => boxes.high[part]);
    boxes.leaveOpen(i);
    const at = lows.every((low, k) => low === highs[k]) ? value(...lows) : null, found = at === null ? ends(value, lows, highs) : widened(at, at);
    if (found && !found.some(Number.isNaN)) boxes.keep(i, found);
  };
}

// Rows of numbers by their words, each with bounds made of its function.
export function withBounds(numbers, bounds) { return Object.fromEntries(Object.entries(numbers).map(([word, value]) => [word, { value, bounds: bounds[word](value) }])); }

// What lies between two values that are off by roundings.
export function widened(low, high) { return [low * (1 - 1e-9), high * (1 + 1e-9)]; }

export function sorted(values, isZeroToo = false) {
  const all = isZeroToo ? [...values, 0] : values;
  return [Math.min(...all), Math.max(...all)];
}

// Products and quotients of intervals share one pair for their result: read it at once.
const pair = new Float64Array(2);

export function times(a, b, c, d) {
  if (a === 0 && b === 0 || c === 0 && d === 0) { pair[0] = pair[1] = 0; return pair; }
  const one = product(a, c), two = product(a, d), three = product(b, c), four = product(b, d);
  pair[0] = Math.min(one, two, three, four);
  pair[1] = Math.max(one, two, three, four);
  return pair;
}

function product(a, b) {
  const found = a * b;
  return found === found ? found : 0; // nothing times infinity
}

export function over(a, b, c, d) {
  if (c > 0 || d < 0) return times(a, b, 1 / d, 1 / c);
  pair[0] = -Infinity;
  pair[1] = Infinity;
  return pair;
}
