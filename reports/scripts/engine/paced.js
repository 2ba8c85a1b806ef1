// How fast that is of which there are copies, by how many are there in all: pools, and their own; `engine/paced_tables.py` tells how.

import { convolved, powered } from "./closed.js";

const LEVELS = 64, MOST_COPIES = 32, MOST_PLACES = 128, MOST_LOG = 600, FEW_COPIES = 2;

// A value on the lines between some, of which the last holds for all places beyond.
export function at(values, place) {
  const whole = Math.floor(place);
  if (whole >= values.length - 1) return values.at(-1);
  return values[whole] + (place - whole) * (values[whole + 1] - values[whole]);
}

// How many are within, and how many end in a time, by how many are there in all; the last values are those of all places. `rates` are those
// within copies that are equally full, `byChance` those where they are filled so.
export function heldWithin(rates, byChance, places, copies, variation, most) {
  if (copies === 1) {
    const count = Math.min(places, most);
    return { held: Array.from({ length: count + 1 }, (_, n) => n), ending: [0, ...rates.slice(0, count)] };
  }
  const held = Math.min(places, MOST_PLACES), each = [];
  for (let n = 1; n <= held; n++) each.push(rates[Math.min(Math.floor(copies * places * n / held), rates.length) - 1]);
  const weights = [1];
  for (const rate of each) weights.push(weights.at(-1) * (each.at(-1) / rate));
  const few = Math.min(copies, MOST_COPIES, Math.max(2, Math.floor(MOST_LOG / (Math.log(weights.at(-1)) + 1))));
  const ratio = copies * places / (few * held), levels = Math.floor(Math.min(Math.max(LEVELS, 2 * held) * few, Math.max(most / ratio + 1, held)));
  while (weights.length <= levels) weights.push(weights.at(-1));
  for (let n = 0; n < held; n++) weights[n] *= (1 + variation) / 2;
  const fewer = powered(weights, few - 1, levels + 1), whole = convolved(weights, fewer, levels + 1);
  const mean = (value) => Array.from(convolved(weights.map((weight, n) => value(Math.min(n, held)) * weight), fewer, levels + 1), (one, n) => one / whole[n]);
  const within = mean((n) => n).map((one) => few * one);
  if (ratio > 1) {
    const count = Math.floor(Math.min(levels * ratio, Math.max(most, places))), ends = [0, ...byChance];
    const found = [...Array.from({ length: count + 1 }, (_, n) => ratio * at(within, n / ratio)), places * copies];
    return { held: found, ending: found.map((one) => at(ends, one)) };
  }
  const ends = [0, ...each]; // of all copies that are equally full: of one, a part of it
  return { held: [...within, places * copies], ending: [...mean((n) => ends[n]), each.at(-1)] };
}

// Some copies in place of all, each as so many, and products over all weights and over all but those of one.
function copiesOf(weights, places, copies, most) {
  let few = copies;
  if (copies > FEW_COPIES) {
    const [lowest, highest] = weights.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)], [Infinity, -Infinity]);
    const spread = lowest > 0 ? Math.log(highest) - Math.log(lowest) : Infinity;
    few = Math.min(copies, MOST_COPIES, Math.max(1, Math.floor(MOST_LOG / (spread + 1))));
  }
  const ratio = copies / few, levels = Math.min(places * few, Math.ceil(Math.min(places * copies, most) / ratio)), fewer = powered(weights, few - 1, levels + 1);
  return { few, ratio, levels, fewer, whole: convolved(weights, fewer, levels + 1) };
}

// The rates of stations, one for each copy of a pool, by how many are there in all; where weights are too small to tell, as if none waited.
export function ownRates(weights, places, copies, most, least) {
  const { few, ratio, levels, fewer, whole } = copiesOf(weights, places, copies, most), top = convolved([0, ...weights.slice(0, -1)], fewer, levels + 1);
  const first = top.findIndex((one, n) => n && one > least), slow = few * top[first] / whole[first];
  const found = Array.from(top, (one, n) => (n < first ? slow * n / first : few * one / whole[n]));
  if (ratio === 1) return found.slice(1);
  return Array.from({ length: Math.min(places * copies, most) }, (_, n) => ratio * at(found, (n + 1) / ratio));
}

// What is waited at one of such stations, by how many are there in all, from none on: `waits` are those by how many are at the copy that is
// come to, times their weights.
export function ownWaits(weights, waits, places, copies, most, least) {
  const { ratio, levels, fewer, whole } = copiesOf(weights, places, copies, most), alone = waits[0] / weights[0];
  const found = Array.from(convolved(waits, fewer, levels + 1), (one, n) => (whole[n] > least ? one / whole[n] : alone));
  return ratio === 1 ? found : Array.from({ length: Math.min(places * copies, most) + 1 }, (_, n) => at(found, n / ratio));
}

// The rates of such stations where as many are at each of them.
export function evenRates(weights, places, copies, most, least) {
  const first = weights.findIndex((weight) => weight > least), known = weights.slice(first, -1).map((before, n) => before / weights[first + n + 1]);
  const slow = known.length ? known[0] / (first + 1) : 1, each = [...Array.from({ length: first + 1 }, (_, n) => n * slow), ...known];
  return Array.from({ length: Math.min(places * copies, most) }, (_, n) => copies * at(each, (n + 1) / copies));
}
