// How fast that is of which there are copies, by how many are there in all: pools, and their own; `engine/queueing_networks/service_rate_tables.py` tells how.

import { convolved, powered } from "./product_form.js";

const LEVELS = 64, MAX_COPIES = 32, MAX_PLACES = 128, MAX_LOG = 600, FEW_COPIES = 2;

// A value on the lines between some, of which the last holds for all places beyond.
export function at(values, place) {
  const whole = Math.floor(place);
  if (whole >= values.length - 1) return values.at(-1);
  return values[whole] + (place - whole) * (values[whole + 1] - values[whole]);
}

// How many are within, and how many end in a time, by how many are there in all; the last values are those of all places. `rates` are those
// within copies that are equally full, `byChance` those where they are filled as who comes takes any of them.
export function populationWithin(rates, byChance, places, copies, variation, most) {
  if (copies === 1) {
    const count = Math.min(places, most);
    return { held: Array.from({ length: count + 1 }, (_, n) => n), ending: [0, ...rates.slice(0, count)] };
  }
  const held = Math.min(places, MAX_PLACES), each = [];
  for (let n = 1; n <= held; n++) each.push(rates[Math.min(Math.floor(copies * places * n / held), rates.length) - 1]);
  const plain = multiplied(each.map((rate) => each.at(-1) / rate)), weights = multiplied(waited(each, variation));
  const spread = Math.max(...[plain, weights].map((some) => Math.log(Math.max(...some) / Math.min(...some))));
  const few = Math.min(copies, MAX_COPIES, Math.max(2, Math.floor(MAX_LOG / (spread + 1))));
  const ratio = copies * places / (few * held), levels = Math.floor(Math.min(Math.max(LEVELS, 2 * held) * few, Math.max(most / ratio + 1, held)));
  while (weights.length <= levels) weights.push(weights.at(-1));
  const alone = [0, ...each], busy = weights.map((_, n) => Math.min(n, held));
  let within = meanOf(busy, weights, few, levels + 1);
  const asBusy = meanOf(alone, plain, few, Math.min(few * held, levels + held) + 1);
  let filled = meanOf(busy.map((n) => alone[n]), weights, few, levels + 1).map((rate) => placeOf(rate, asBusy));
  if (ratio > 1) {
    const counts = Array.from({ length: Math.floor(Math.min(levels * ratio, Math.max(most, places))) + 1 }, (_, n) => n / ratio);
    [within, filled] = [within, filled].map((some) => counts.map((n) => ratio * at(some, n)));
  }
  const ends = [0, ...byChance];
  return { held: [...within, places * copies], ending: [...filled.map((one) => at(ends, one)), ends.at(-1)] };
}

// By which factor each who waits for some servers makes a number there more likely.
function queueFactor(variation, servers) {
  const more = variation - 1;
  return 1 + (more <= 0 ? 2 * more / (servers + 3) : more / (2 * servers + more * (servers - 1) / 3));
}

// The weights of one, two, … at a copy as parts of those of one less.
function waited(each, variation) {
  const first = each[0], factor = (rate) => queueFactor(variation, Math.max(rate / first, 1)), most = factor(each.at(-1));
  return each.map((rate, n) => {
    const waiting = variation > 1 ? 1 - Math.min(Math.max((rate - (n ? each[n - 1] : 0)) / first, 0), 1) : 0;
    return each.at(-1) / rate * (1 + (factor(rate) - 1) * waiting) / most;
  });
}

function multiplied(factors) {
  const found = [1];
  for (const one of factors) found.push(found.at(-1) * one);
  return found;
}

// Means at a few copies together, by how many are there, from values at one of them.
function meanOf(values, weights, few, size) {
  const fewer = powered(weights, few - 1, size), whole = convolved(weights, fewer, size);
  return Array.from(convolved(weights.map((weight, n) => values[n] * weight), fewer, size), (one, n) => few * one / whole[n]);
}

// Where a value stands on the lines between some that rise; the last one if beyond.
function placeOf(value, rising) {
  let low = 0, high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] < value) low = middle + 1;
    else high = middle;
  }
  if (low === rising.length) return low - 1;
  return low ? low - 1 + (value - rising[low - 1]) / (rising[low] - rising[low - 1]) : 0;
}

// Some copies in place of all, each as so many, and products over all weights and over all but those of one.
function copiesOf(weights, places, copies, most) {
  let few = copies;
  if (copies > FEW_COPIES) {
    const [lowest, highest] = weights.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)], [Infinity, -Infinity]);
    const spread = lowest > 0 ? Math.log(highest) - Math.log(lowest) : Infinity;
    few = Math.min(copies, MAX_COPIES, Math.max(1, Math.floor(MAX_LOG / (spread + 1))));
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
