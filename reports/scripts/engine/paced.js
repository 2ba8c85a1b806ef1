// How fast that is of which there are copies, by how many are there in all: pools, and their own; `engine/paced_tables.py` tells how.

import { convolved, powered } from "./closed.js";

const LEVELS = 64, MOST_COPIES = 32, MOST_PLACES = 128, MOST_LOG = 600;

// A value on the lines between some, of which the last holds for all places beyond.
export function at(values, place) {
  const whole = Math.floor(place);
  if (whole >= values.length - 1) return values.at(-1);
  return values[whole] + (place - whole) * (values[whole + 1] - values[whole]);
}

// How many are within, by how many are there in all; the last value is that of all places.
export function heldWithin(rates, places, copies, variation, most) {
  if (copies === 1) return Array.from({ length: Math.min(places, most) + 1 }, (_, n) => n);
  const held = Math.min(places, MOST_PLACES), each = [];
  for (let n = 1; n <= held; n++) each.push(rates[Math.min(Math.floor(copies * places * n / held), rates.length) - 1]);
  const weights = [1];
  for (const rate of each) weights.push(weights.at(-1) * (each.at(-1) / rate));
  const few = Math.min(copies, MOST_COPIES, Math.max(2, Math.floor(MOST_LOG / (Math.log(weights.at(-1)) + 1))));
  const ratio = copies * places / (few * held), levels = Math.floor(Math.min(Math.max(LEVELS, 2 * held) * few, Math.max(most / ratio + 1, held)));
  while (weights.length <= levels) weights.push(weights.at(-1));
  for (let n = 0; n < held; n++) weights[n] *= (1 + variation) / 2;
  const fewer = powered(weights, few - 1, levels + 1);
  const top = convolved(weights.map((weight, n) => Math.min(n, held) * weight), fewer, levels + 1), whole = convolved(weights, fewer, levels + 1);
  let found = top.map((one, n) => few * one / whole[n]);
  if (ratio > 1) {
    const count = Math.floor(Math.min(levels * ratio, Math.max(most, places))), told = found;
    found = Array.from({ length: count + 1 }, (_, n) => ratio * at(told, n / ratio));
  }
  return [...found, places * copies];
}

// The rates of stations, one for each copy of a pool, by how many are there in all.
export function ownRates(weights, places, copies) {
  const most = places * copies, fewer = powered(weights, copies - 1, most + 1), whole = convolved(weights, fewer, most + 1);
  const top = convolved([0, ...weights.slice(0, -1)], fewer, most + 1);
  return Array.from({ length: most }, (_, n) => copies * top[n + 1] / whole[n + 1]);
}
