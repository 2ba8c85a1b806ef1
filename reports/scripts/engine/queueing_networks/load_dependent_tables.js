// Stations by their rates with one, two, … customers: as polynomials, within the copies of a pool, and on a grid.

import { memoized } from "../numerics/memo.js";
import { aroundOf, nameOf } from "./load_dependent_operands.js";
import { ofSeveral } from "./product_form.js";
import { evenRates, ownRates, ownWaits } from "./service_rate_tables.js";

export const MAX_RATES = 256;
const FINER = 1.03, ROUNDED = 1e-12, LEAST = 1e-290;

// The rates of a copy of a station with speeds, by how many are there.
export function paces({ speeds, copies, demand }) { return speeds.map((speed) => speed * copies / demand); }

// How long an item is at no station while it holds a place, nor waits for a pool.
export function delayWithin({ delay, within }) { return within.reduce((sum, one) => sum + (one.within ? delayWithin(one) : 0), delay); }

// How many more are at stations where so many end in a time than where others do, of as many within: the rest goes through the delay.
export function atStations(held, rate, even, delay) {
  const there = held - even * delay;
  return there > 0 ? (held - rate * delay) / there : 1;
}

// A station by its rates, the last one for all numbers beyond, as a polynomial over 1 - r z.
export function tableOf(rates, copies, unit) {
  const ratio = unit / rates.at(-1), logs = [0];
  for (const rate of rates) logs.push(logs.at(-1) + Math.log(unit / rate));
  const largest = most(logs), weights = logs.map((one) => Math.exp(one - largest));
  const own = weights.slice(0, -1).map((one, k) => (k ? Math.max(one - ratio * weights[k - 1], 0) : one)), whole = total(own);
  return { copies, ratio, last: rates.length, full: weights.map((one) => one / whole), weights: own.map((one) => one / whole), others: [1] };
}

// Rates of which the last is the largest: beyond all customers they are as we like.
export function rising(rates, customers) {
  const table = rates.slice(0, customers), largest = most(table), last = table.at(-1);
  if (largest <= last * (1 + ROUNDED)) return table.with(-1, largest);
  while (table.length < customers + 1) table.push(last);
  return [...table, largest];
}

// The rates of stations of which each copy of a pool has one, by how many are there, and what open visits wait at one.
export function ratesOfOwn(station, around, last) {
  return memoized(`own rates ${nameOf([station])} ${aroundOf(around)} ${last}`, () => {
    const { places, copies, areEven } = around, { weights, unit } = station.speeds.length ? slowerOf(station, places) : summedOf(station, places);
    return (areEven ? evenRates : ownRates)(weights, places, copies, last, LEAST).map((rate) => rate * unit);
  });
}

export function waitsAtOwn(station, around, last) {
  return memoized(`own waits ${nameOf([station])} ${aroundOf(around)} ${last}`, () => {
    const { places, copies } = around, { weights, waits } = summedOf(station, places);
    return ownWaits(weights, waits, places, copies, last, LEAST);
  });
}

function slowerOf({ demand, speeds }, places) {
  const fastest = speeds.at(-1), weights = [1];
  for (let n = 0; n < places; n++) weights.push(weights.at(-1) * fastest / (speeds[n] ?? fastest));
  return { weights, unit: fastest / demand };
}

// The weights of a copy by how many are there, up to all places, and these times what an open visit waits.
function summedOf({ demand, servers, load }, places) {
  const unit = (servers - load) / demand, { weights, waits, growing } = ofSeveral([demand, servers, load, 1], unit), behind = servers - 1;
  return { unit, weights: summed(weights, places), waits: summed(waits, places).map((one, k) => one + growing * Math.max(k - behind, 0)) };
}

function summed(polynomial, last) {
  const found = [];
  for (let k = 0; k <= last; k++) found.push((found.at(-1) ?? 0) + (polynomial[k] ?? 0));
  return found;
}

// Values of one, two, … up to some one by one, then on lines.
export function onGrid(value, last) {
  const found = [];
  for (let n = 1; n <= Math.min(last, MAX_RATES); n++) found.push(value(n));
  for (let n = MAX_RATES; n < last;) {
    const following = Math.min(last, Math.floor(n * FINER) + 1), low = found.at(-1), high = value(following), steps = following - n;
    for (let k = 1; k <= steps; k++) found.push(low + (high - low) * k / steps);
    n = following;
  }
  return found;
}

export function cumulated(rates) {
  const found = [0];
  for (const rate of rates) found.push(found.at(-1) + Math.log(rate));
  return found;
}

// How many are at a table of rates of open arrivals, at most so many customers.
export function numberOf(logs, rates, rate, customers) {
  if (rate <= 0) return 0;
  const each = Math.log(rate), logWeights = logs.map((one, n) => n * each - one), largest = most(logWeights), ratio = rate / rates.at(-1), last = rates.length;
  if (ratio >= 1) {
    if (most(rates) <= rates.at(-1) * (1 + ROUNDED)) return Infinity;
    if (logWeights.at(-1) + Math.max(customers - last, 0) * Math.log(ratio) > largest) return customers;
  }
  const weights = logWeights.map((one) => Math.exp(one - largest));
  let held = total(weights.map((one, n) => n * one)), whole = total(weights);
  if (ratio < 1) {
    const tail = weights.at(-1) * ratio / (1 - ratio);
    held += tail * (last + 1 / (1 - ratio));
    whole += tail;
  }
  return held / whole;
}

export function counted(last) { return Array.from({ length: last + 1 }, (_, n) => n); }

export function total(values) { return values.reduce((before, one) => before + one, 0); }

export function most(values) { return values.reduce((one, other) => Math.max(one, other), -Infinity); }
