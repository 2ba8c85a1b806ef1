// Closed networks with stations whose speed goes by how many are there, and with pools: `engine/queueing_networks/load_dependent_mva.py` tells how.

import { memoized } from "../numerics/memo.js";
import { aroundOf, between, every, holds, nameOf, neverEnds, read, SEVERAL, takesTime } from "./load_dependent_operands.js";
import { atStations, counted, cumulated, delayWithin, most, numberOf, onGrid, paces, ratesOfOwn, rising, tableOf, total, waitsAtOwn } from "./load_dependent_tables.js";
import { convolved, dot, ofSeveral, sharesOf, singleServers, waitAlone, waitOf, weighed } from "./product_form.js";
import { at, populationWithin } from "./service_rate_tables.js";

const MAX_TABULATED = 4096, NEAR_ONE = 20, HALVINGS = 14;
const NO_POOL = { places: 0, copies: 1, areEven: false }; // what a network is within: a pool, of which copies are equally full, or by chance

// `erlangC` is that of the numbers of queues, which know this module.
export function nestedNumbers(erlangC) {
  const { solved } = networks(erlangC);
  const rate = (customers, think, places) => (customers === 0 || places.some(neverEnds) ? 0 : solved(customers, think, places).rate);
  const time = (which) => (customers, think, places) => {
    const own = places.find((place) => holds(place, which));
    if (neverEnds(own)) return Infinity;
    return (places.some(neverEnds) ? solved(1, think, [own]) : solved(Math.max(customers, 1), think, places)).time(which);
  };
  const wait = (which) => (customers, think, places) => {
    const own = places.find((place) => holds(place, which)), isFull = places.some(neverEnds);
    if (isFull && neverEnds(every([own]).find((place) => place.at === which))) return Infinity;
    return solved(isFull ? 0 : customers, think, places).wait(which);
  };
  const ofPlace = (value) => (which, customers, think, ...operands) => {
    const places = read(customers, think, operands);
    return places && every(places).some((place) => place.at === which) ? between(value(which), customers, think, places) : NaN;
  };
  return {
    nested_rate: (customers, think, ...operands) => {
      const places = read(customers, think, operands);
      return places ? between(rate, customers, think, places) : NaN;
    },
    nested_time: ofPlace(time),
    nested_wait: ofPlace(wait),
  };
}

function networks(erlangC) {
  const alone = (servers, load) => waitAlone(erlangC, servers, load);
  const made = (customers, think, places, around) => new Solved(alone, solved, customers, think, places, around);
  const solved = (customers, think, places, around = NO_POOL) => memoized(`nested ${customers} ${think} ${aroundOf(around)} ${nameOf(places)}`, () => made(customers, think, places, around));
  return { alone, made, solved };
}

// What goes on at a pool by how many are there, told of no more than so many: how fast they go, how many hold a place or are at a place
// within, and what open visits wait there.
export function poolTables(erlangC) {
  const { made } = networks(erlangC);
  return (pool, last) => {
    const own = made(0, 0, [pool], NO_POOL);
    own.most = last;
    return { rates: own.speedsOf(pool), held: () => own.heldOf(pool), numbers: (which) => own.numbersWithin(pool, which), waits: (which) => own.waitsWithin(pool, which) };
  };
}

// A network with so many customers: its rate, and what goes on at each place.
class Solved {
  constructor(alone, solved, customers, think, places, around) {
    Object.assign(this, { alone, solved, customers, think, places, around, plain: [], several: [], paced: [], rate: 0 });
    this.most = Math.max(MAX_TABULATED, 2 ** (customers ? Math.floor(Math.log2(customers)) + 1 : 0));
    let pause = think;
    for (const place of places) pause += this.sort(place);
    this.solve(pause);
  }

  // Puts a place where it belongs; what it takes where nobody waits.
  sort(place) {
    if (!this.customers) return 0;
    if (place.within) {
      const rates = this.speedsOf(place);
      if (rates.length) this.paced.push({ place, rates, count: 1 });
    } else if (place.demand) {
      if (place.isOwn && this.around.copies > 1) this.paced.push({ place, rates: ratesOfOwn(place, this.around, this.most), count: 1 });
      else if (place.speeds.length) this.paced.push({ place, rates: paces(place), count: place.copies });
      else if (place.load === 0 && place.servers > this.customers) return place.demand;
      else (place.servers < SEVERAL ? this.plain : this.several).push(place);
    }
    return 0;
  }

  solve(think) {
    const { customers, plain, several, paced } = this;
    if (!customers || !(plain.length + several.length + paced.length)) {
      this.rate = customers ? (think ? customers / think : Infinity) : 0;
      return;
    }
    const tables = paced.map(({ rates, count }) => ({ rates: rising(rates, customers), count }));
    const base = [...this.singles(), ...tables.map(({ rates, count }) => [1 / rates.at(-1), count])];
    const degree = total(several.map(({ copies, servers }) => copies * (servers - 1))) + total(tables.map(({ rates, count }) => count * rates.length));
    const before = Math.min(degree + 2, customers), { rates, numbers } = singleServers(customers, think, base, before);
    const unit = before < NEAR_ONE ? rates[0] : this.near(think);
    this.shares = sharesOf(rates, unit);
    this.numbers = numbers;
    this.ofSeveral = several.map((one) => ofSeveral([one.demand, one.servers, one.load, one.copies], unit));
    this.tables = tables.map((one) => tableOf(one.rates, one.count, unit));
    const own = [...this.ofSeveral, ...this.tables], ones = new Array(this.shares.length).fill(1);
    this.product = own.length ? weighed(own, ones, customers) : [1];
    this.whole = dot(this.product, this.shares);
    this.rate = unit * dot(this.product, this.shares.slice(1)) / this.whole;
  }

  singles() { return [...this.plain, ...this.several].map(({ demand, servers, load, copies }) => [demand / copies / (servers - load), copies]); }

  // About the rate: at which as many would be there of open arrivals.
  near(think) {
    const singles = this.singles();
    let delay = think;
    [...this.plain, ...this.several].forEach(({ demand, servers }, k) => { if (servers > 1) delay += demand - singles[k][0] * singles[k][1]; });
    const tables = this.paced.map(({ rates, count }) => ({ logs: cumulated(rates), rates, count }));
    let low = 0, high = Math.min(...singles.map(([ratio]) => 1 / ratio), ...tables.map(({ rates }) => most(rates)), delay ? this.customers / delay : Infinity);
    for (let k = 0; k < HALVINGS; k++) {
      const rate = (low + high) / 2;
      let held = delay * rate + total(singles.map(([r, m]) => m * r * rate / (1 - r * rate)));
      for (const { logs, rates, count } of tables) held += count * numberOf(logs, rates, rate, this.customers);
      if (held < this.customers) low = rate;
      else high = rate;
    }
    return high;
  }

  // How long a cycle is at a place.
  time(which) {
    const own = this.places.find((place) => holds(place, which));
    if (own.within) return this.timeOfPool(own, which);
    if (!own.demand) return 0;
    const number = this.paced.findIndex(({ place }) => place === own);
    if (number < 0) return own.demand * (1 + this.solved(this.customers - 1, this.think, this.places, this.around).wait(which));
    const table = this.tables[number];
    return table.copies * (this.mean(table, counted(table.last)) + this.beyond(number)) / this.whole / this.rate;
  }

  timeOfPool(pool, which) {
    const number = this.paced.findIndex(({ place }) => place === pool);
    if (number < 0) return 0;
    const table = this.tables[number], held = this.heldOf(pool);
    if (pool.at !== which) return this.mean(table, this.numbersWithin(pool, which)) / this.whole / this.rate;
    const waiting = counted(table.last).map((n) => n - at(held, n));
    return (this.mean(table, waiting) + this.beyond(number)) / this.whole / this.rate;
  }

  // The mean of values at none, one, … at a table, times all weights.
  mean({ full, ratio, others }, values) {
    const weights = [...full];
    while (weights.length < Math.min(values.length, this.shares.length)) weights.push(weights.at(-1) * ratio);
    const weighted = weights.map((weight, k) => weight * values[Math.min(k, values.length - 1)]);
    return dot(convolved(others, weighted.map((one, k) => (k ? one - ratio * weighted[k - 1] : one)), this.shares.length), this.shares);
  }

  // How many more there are than the speeds tell of, times all weights.
  beyond(number) {
    const { full, last, others } = this.tables[number], among = this.plain.length + this.several.length + number;
    return full.at(-1) * dot(others, this.numbers.map((held, k) => this.shares[k] * held[among]).slice(last));
  }

  // The mean wait of an open visit at a station, in mean service times.
  wait(which) {
    const own = this.places.find((place) => holds(place, which));
    if (own.within) return own.at === which ? NaN : this.waitWithin(own, which);
    if (own.speeds.length) return NaN;
    const alone = this.alone(own.servers, own.load);
    if (own.isOwn && this.around.copies > 1) {
      const table = this.tables?.[this.paced.findIndex(({ place }) => place === own)];
      return table ? this.mean(table, waitsAtOwn(own, this.around, this.most).slice(0, table.last + 1)) / this.whole : alone;
    }
    const severalth = this.several.indexOf(own), plainth = this.plain.indexOf(own);
    if (severalth >= 0) return waitOf(this.ofSeveral[severalth], this.shares, this.numbers.map((each) => each[this.plain.length + severalth])) / this.whole;
    if (plainth < 0) return alone;
    const held = this.numbers.map((each) => each[plainth]), weights = this.product.slice(0, this.shares.length).map((one, k) => one * this.shares[k]);
    return (own.load + dot(weights, held) / this.whole) / (1 - own.load);
  }

  waitWithin(pool, which) {
    const number = this.paced.findIndex(({ place }) => place === pool);
    if (number < 0) return this.inner(pool, 0).wait(which);
    return this.mean(this.tables[number], this.waitsWithin(pool, which)) / this.whole;
  }

  // -- pools ---------------------------------------------------------------------------------------------------------------------------

  inner(pool, customers) { return this.solved(customers, pool.delay, pool.within, { places: pool.places, copies: pool.copies, areEven: false }); }

  // How many are at a place within a pool, by how many are at the pool; and what open visits wait there.
  numbersWithin(pool, which) {
    const inner = [0, ...onGrid((n) => { const one = this.inner(pool, n); return one.rate * one.time(which); }, this.mostWithin(pool))];
    const { held, ending } = this.filled(pool), found = held.map((one) => at(inner, one));
    if (pool.copies === 1) return found;
    const rates = [0, ...this.ratesWithin(pool)], delay = delayWithin(pool);
    return found.map((one, n) => one * atStations(held[n], ending[n], at(rates, held[n]), delay));
  }

  waitsWithin(pool, which) {
    const waits = [this.inner(pool, 0).wait(which), ...onGrid((n) => this.inner(pool, n).wait(which), this.mostWithin(pool))];
    return this.heldOf(pool).map((one) => at(waits, one));
  }

  mostWithin(pool) { return Math.min(pool.places * pool.copies, this.most); }

  ratesWithin(pool) {
    if (!takesTime(pool)) return [];
    return memoized(`rates ${nameOf([pool])} ${this.most}`, () => onGrid((n) => this.inner(pool, n).rate, this.mostWithin(pool)));
  }

  // The same where the copies of a pool are all equally full.
  evenRatesWithin(pool) {
    if (pool.copies === 1 || !pool.within.some((place) => place.isOwn)) return this.ratesWithin(pool);
    const around = { places: pool.places, copies: pool.copies, areEven: true };
    return onGrid((n) => this.solved(n, pool.delay, pool.within, around).rate, this.mostWithin(pool));
  }

  filled(pool) {
    return memoized(`filled ${nameOf([pool])} ${this.most}`, () => populationWithin(this.evenRatesWithin(pool), this.ratesWithin(pool), pool.places, pool.copies, pool.variation, this.most));
  }

  heldOf(pool) { return this.filled(pool).held; }

  speedsOf(pool) { return this.ratesWithin(pool).length ? this.filled(pool).ending.slice(1) : []; }
}
