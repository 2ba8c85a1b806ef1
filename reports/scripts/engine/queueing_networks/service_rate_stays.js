// How long classes stay where the speed goes by how many are there, and at stations: `engine/queueing_networks/service_rate_stays.py` tells how.

import { waitingAt } from "./linearizer.js";
import { poolTables } from "./load_dependent.js";
import { every } from "./load_dependent_operands.js";
import { paces } from "./load_dependent_tables.js";
import { at } from "./service_rate_tables.js";

const POINTS = 96, MORE = 1000;

// How long each class is at a place as a whole, and at each place within, by its group; and what open visits wait.
export function staysOf(erlangC) {
  const tablesOf = poolTables(erlangC);
  return (network, shares, place, others, most) => {
    const part = (one) => sharedOut(network, shares, one);
    if (place.within) return atPool(tablesOf(place, most), network, part, place, others);
    const whole = place.speeds.length ? atSpeeds(part(place), place, others) : null;
    if (whole) return { whole, times: new Map([[place.at, whole]]), waits: new Map() };
    const wait = waitingAt(erlangC, place), own = part(place), stay = (found) => own(found.map((one) => place.demand * (1 + wait(one))));
    return { whole: stay, times: new Map([[place.at, stay]]), waits: new Map([[place.at, wait]]) };
  };
}

function atSpeeds(part, place, others) {
  const { copies } = place, numbers = numbersOf(paces(place), others), stay = numbers.means((n) => copies * n / numbers.rate(n), 1);
  return (found) => part(found.map((one) => stay(one / copies)));
}

function atPool({ rates, held, numbers: inside, waits: openWaits }, network, part, pool, others) {
  const all = every([pool]), times = new Map(), waits = new Map();
  if (!rates.length) { // nothing is done there
    const none = (found) => found.map(() => 0);
    return { whole: none, times: new Map(all.map((one) => [one.at, none])), waits };
  }
  const numbers = numbersOf(rates, others), holding = held();
  for (const one of all) {
    const there = one === pool ? null : inside(one.at), value = there ? (n) => at(there, n) / numbers.rate(n) : (n) => (n - at(holding, n)) / numbers.rate(n);
    const mean = numbers.means(value, one === pool && pool.copies === 1 ? pool.variation : 1), mine = part(one);
    times.set(one.at, (found) => mine(found.map(mean)));
    if (one.within || one.speeds.length) continue;
    waits.set(one.at, (n) => { const own = openWaits(one.at); return numbers.means((count) => at(own, count - 1), 1)(n); });
  }
  const delay = shareless(all.filter((one) => one.within).map((one) => network.groups[one.at].demand));
  const stays = [...times.values()], whole = (found) => stays.reduce((sum, stay) => stay(found).map((time, k) => sum[k] + time), delay);
  return { whole, times, waits };
}

function shareless(each) { return each[0].map((_, k) => each.reduce((sum, one) => sum + one[k], 0)); }

// What makes of the times of a cycle at a place those of each class: its service, and its part of the wait, which is all of it at a pool.
function sharedOut(network, shares, one) {
  const { demand, weights: groupWeights } = network.groups[one.at], weights = one.speeds?.length ? demand : groupWeights, whole = dot(weights, shares);
  const parts = weights.map((weight) => (whole ? weight / whole : weight));
  if (one.within) return (times) => times.map((time, k) => time * parts[k]);
  const work = dot(demand, shares), served = demand.map((own) => (work ? own * (one.demand / work) : own));
  return (times) => times.map((time, k) => served[k] + parts[k] * (time - one.demand));
}

// How many are found at a place of such rates, by how long so many others think.
function numbersOf(rates, most) {
  const slowest = rates.reduce((one, other) => Math.min(one, other)), fastest = rates.reduce((one, other) => Math.max(one, other));
  if (!(slowest > 0 && fastest < Infinity)) return { rate: () => NaN, means: () => () => NaN }; // lost to rounding
  const others = Math.min(most, rates.length + MORE), size = Math.ceil(others), rate = (n) => rates[Math.min(n, rates.length) - 1];
  const logs = [0];
  for (let n = 0; n < size; n++) logs.push(logs.at(-1) + Math.log((others - n) / others / rate(n + 1)));
  const weights = [], found = [0], spread = [];
  for (let k = 1; k < POINTS; k++) {
    const part = k / POINTS, coming = Math.log(fastest * part / (1 - part)), logWeights = logs.map((one, n) => n * coming + one);
    const largest = logWeights.reduce((one, other) => Math.max(one, other)), each = logWeights.map((one) => Math.exp(one - largest)), whole = each.reduce((sum, one) => sum + one, 0);
    const own = each.map((one) => one / whole), mean = own.reduce((sum, one, n) => sum + one * n, 0);
    weights.push(own);
    found.push(mean);
    spread.push(own.reduce((sum, one, n) => sum + one * n * n, 0) - mean * mean);
  }
  return {
    rate,
    // The mean of what is told by how many are there with one who comes, by those found; with what is waited more since the time that a
    // place is held varies otherwise than an exponential one.
    means: (value, variation) => {
      const rest = others > 0 ? (variation - 1) / 2 / rates.at(-1) : 0;
      const values = logs.map((_, n) => value(n + 1) + (n >= rates.length && rest ? rest * (1 - n / others) : 0));
      if (values.length === 1) return () => values[0];
      const means = weights.map((each) => dot(each, values)), slopes = weights.map((each, k) => (each.reduce((sum, one, n) => sum + one * values[n] * n, 0) - means[k] * found[k + 1]) / spread[k]);
      return cubic(found, [values[0], ...means], [values[1] - values[0], ...slopes]);
    },
  };
}

// A function that has values and slopes at places; beyond it goes on straight.
function cubic(places, ends, tilts) {
  const last = places.length - 1;
  return (found) => {
    let low = 0, high = last + 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (places[middle] <= found) low = middle;
      else high = middle;
    }
    const more = found - places[low];
    if (low === last) return ends[low] + more * tilts[low];
    const width = places[low + 1] - places[low], rise = (ends[low + 1] - ends[low]) / width;
    const second = (3 * rise - 2 * tilts[low] - tilts[low + 1]) / width, third = (tilts[low] + tilts[low + 1] - 2 * rise) / width ** 2;
    return ends[low] + more * (tilts[low] + more * (second + more * third));
  };
}

function dot(one, other) { return one.reduce((sum, value, k) => sum + value * other[k], 0); }
