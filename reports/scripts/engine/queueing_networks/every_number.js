// A network with none, one, … up to so many customers, all of them for the price of one: `engine/queueing_networks/station_rates.py` tells how.

import { rising, tableOf } from "./load_dependent_tables.js";
import { convolved, ofSeveral, weighed } from "./product_form.js";

const LEAST = 1e-290, MOST = 1e290;

// The weights of stations do not rest on how many customers there are in all: those of any number are one more coefficient of the same product.
// `plain` and `several` are stations of one and of several servers, `paced` those with rates, each with how many copies there are.
export class EveryNumber {
  constructor({ most, think, plain, several, paced }) {
    Object.assign(this, { most, plain, singles: plain.length + several.length });
    const scales = paced.map(({ rates, count }) => ({ rates: rising(rates, most), count }));
    const base = [...[...plain, ...several].map(({ demand, servers, load, copies }) => [demand / copies / (servers - load), copies]), ...scales.map(({ rates, count }) => [1 / rates.at(-1), count])];
    const { rates, held } = onlySingles(most, think, base), unit = this.unit = rates[most];
    this.held = held;
    this.shares = new Float64Array(most + 1).fill(1);
    for (let n = 1; n <= most; n++) this.shares[n] = this.shares[n - 1] * (unit / rates[n]);
    this.several = several.map((one) => ofSeveral([one.demand, one.servers, one.load, one.copies], unit));
    this.tables = scales.map((one) => tableOf(one.rates, one.count, unit));
    const own = [...this.several, ...this.tables];
    this.product = own.length ? weighed(own, new Float64Array(most + 1).fill(1), most) : [1];
    this.weights = this.behind(this.product, this.shares);
  }

  // Whether floats can represent the weights of all numbers of customers.
  get isInRange() { return this.weights.every((one) => one > LEAST && one < MOST); }

  // How many cycles end in a time.
  get rates() { return this.weights.map((one, n) => (n ? this.unit * this.weights[n - 1] / one : 0)); }

  // What comes of a polynomial and all single servers, by how many customers.
  behind(polynomial, shares) {
    const found = new Float64Array(this.most + 1);
    found.set(convolved(polynomial, shares, this.most + 1));
    return found;
  }

  // With the numbers at a copy of one of the single servers.
  behindHeld(polynomial, number) { return this.behind(polynomial, this.shares.map((share, n) => share * this.held[number][n])); }

  // Means of values at a station with rates; with `isMore`, each customer beyond the last of the values counts one more.
  mean(number, values, isMore) {
    const table = this.tables[number], found = this.behind(valued(table, values, this.most + 1), this.shares);
    if (isMore) {
      const beyond = this.behindHeld(table.others, this.singles + number), full = table.full.at(-1);
      for (let n = table.last; n <= this.most; n++) found[n] += full * beyond[n - table.last];
    }
    return found.map((one, n) => one / this.weights[n]);
  }

  // The mean waits of open visits at one of the stations of several servers.
  waitsOfSeveral(place) {
    const { others, waits, servers, growing } = this.several[place], found = this.behind(convolved(others, waits, this.most + 1), this.shares);
    const more = this.behindHeld(others, this.plain.length + place), first = servers - 1;
    return found.map((one, n) => (one + (n < first ? 0 : growing * more[n - first])) / this.weights[n]);
  }

  // The same at one of the stations of one server.
  waitsOfPlain(place) {
    const { load } = this.plain[place];
    return this.behindHeld(this.product, place).map((one, n) => (load + one / this.weights[n]) / (1 - load));
  }
}

// The polynomials of all stations, of one its weights times values by how many are there.
export function valued({ full, ratio, others }, values, size) {
  const weights = [...full];
  while (weights.length < Math.min(values.length, size)) weights.push(weights.at(-1) * ratio);
  const weighted = weights.map((weight, k) => weight * values[Math.min(k, values.length - 1)]);
  return convolved(others, weighted.map((one, k) => (k ? one - ratio * weighted[k - 1] : one)), size);
}

// Rates of single servers, and numbers at a copy of each, by how many customers there are: mean value analysis.
function onlySingles(most, think, stations) {
  const rates = new Float64Array(most + 1), held = stations.map(() => new Float64Array(most + 1));
  for (let n = 1; n <= most; n++) {
    let cycle = think;
    for (let k = 0; k < held.length; k++) cycle += stations[k][1] * (held[k][n] = stations[k][0] * (1 + held[k][n - 1]));
    rates[n] = n / cycle;
    for (let k = 0; k < held.length; k++) held[k][n] *= rates[n];
  }
  return { rates, held };
}
