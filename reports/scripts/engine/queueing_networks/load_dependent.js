// Closed networks with stations whose speed goes by how many are there, and with pools: `engine/queueing_networks/load_dependent_mva.py` tells how.

import { memoized } from "../numerics/memo.js";
import { EveryNumber, valued } from "./every_number.js";
import { aroundOf, between, every, holds, nameOf, neverEnds, read, SEVERAL, takesTime } from "./load_dependent_operands.js";
import { atStations, counted, cumulated, delayWithin, MAX_RATES, most, numberOf, onGrid, paces, ratesOfOwn, rising, tableOf, total, waitsAtOwn } from "./load_dependent_tables.js";
import { dot, ofSeveral, sharesOf, singleServers, waitAlone, waitOf, weighed } from "./product_form.js";
import { at, populationWithin } from "./service_rate_tables.js";

const MAX_TABULATED = 4096, NEAR_ONE = 20, HALVINGS = 14, FEWEST_TOGETHER = 16, MAX_NUMBERS = 100;
const NO_POOL = { places: 0, copies: 1, areEven: false }; // what a network is within: a pool, of which copies are equally full, or by chance

// `erlangC` is that of the numbers of queues, which know this module.
export function nestedNumbers(erlangC) {
  const networkOf = networks(erlangC);
  const rate = (customers, think, places) => (customers === 0 || places.some(neverEnds) ? 0 : networkOf(think, places).rate(customers));
  const time = (which) => (customers, think, places) => {
    const own = places.find((place) => holds(place, which));
    if (neverEnds(own)) return Infinity;
    return places.some(neverEnds) ? networkOf(think, [own]).time(1, which) : networkOf(think, places).time(Math.max(customers, 1), which);
  };
  const wait = (which) => (customers, think, places) => {
    const own = places.find((place) => holds(place, which)), isFull = places.some(neverEnds);
    if (isFull && neverEnds(every([own]).find((place) => place.at === which))) return Infinity;
    return networkOf(think, places).wait(isFull ? 0 : customers, which);
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

// The networks of some places, each known as long as others are not too many.
function networks(erlangC) {
  const alone = (servers, load) => waitAlone(erlangC, servers, load);
  const networkOf = (think, places, around = NO_POOL) => memoized(`nested ${think} ${aroundOf(around)} ${nameOf(places)}`, () => new Network({ alone, networkOf, think, places, around }));
  return networkOf;
}

// What goes on at a pool by how many are there, up to so many: how fast they go, how many hold a place or are at a place
// within, and what open visits wait there.
export function poolTables(erlangC) {
  const networkOf = networks(erlangC);
  return (pool, last) => {
    const own = new Pool(networkOf, pool, last);
    return { rates: own.speeds, held: () => own.held, numbers: (which) => own.numbersWithin(which), waits: (which) => own.waitsWithin(which) };
  };
}

// A network with any number of customers: where several numbers are requested, all are computed at once, as far as floats have a value.
class Network {
  constructor(known) { Object.assign(this, { known, numbers: new Map(), together: new Map(), first: null }); }

  rate(customers) { return this.everyFor(customers)?.rates[customers] ?? this.solved(customers).rate; }

  time(customers, which) {
    const found = this.everyFor(customers)?.numbersAt(which);
    return found ? found[customers] / this.rate(customers) : this.solved(customers).time(which);
  }

  wait(customers, which) { return this.everyFor(customers)?.waitsAt(which)?.[customers] ?? this.solved(customers).wait(which); }

  everyFor(customers) {
    if (this.first === null) this.first = customers;
    return this.first === customers || customers > MAX_RATES ? null : this.upTo(customers);
  }

  // All numbers of customers up to some; null where floats do not tell.
  upTo(last) {
    const size = Math.max(FEWEST_TOGETHER, 2 ** Math.ceil(Math.log2(last)));
    if (!this.together.has(size)) this.together.set(size, new Together(this.known, size));
    const found = this.together.get(size);
    return found.isKnown ? found : null;
  }

  solved(customers) {
    if (this.numbers.size > MAX_NUMBERS) this.numbers.clear();
    if (!this.numbers.has(customers)) this.numbers.set(customers, new Solved(this, customers));
    return this.numbers.get(customers);
  }

  // Rates of one, two, … up to some customers.
  ratesUpTo(last) { return this.grid(this.upTo(Math.min(last, MAX_RATES))?.rates, last, (n) => this.solved(n).rate); }

  numbersUpTo(last, which) {
    return this.grid(this.upTo(Math.min(last, MAX_RATES))?.numbersAt(which), last, (n) => { const one = this.solved(n); return one.rate * one.time(which); });
  }

  waitsUpTo(last, which) { return this.grid(this.upTo(Math.min(last, MAX_RATES))?.waitsAt(which), last, (n) => this.solved(n).wait(which)); }

  grid(together, last, value) { return onGrid((n) => (together && n < together.length ? together[n] : value(n)), last); }
}

// The places of a network by what they are where there are so many customers.
class Sorted {
  constructor({ alone, networkOf, think, places, around }, customers) {
    Object.assign(this, { alone, networkOf, think, places, around, customers, plain: [], several: [], paced: [] });
    this.most = Math.max(MAX_TABULATED, 2 ** (customers ? Math.floor(Math.log2(customers)) + 1 : 0));
    this.pause = think;
    for (const place of places) this.pause += this.sort(place);
  }

  // Puts a place where it belongs; what it takes where nobody waits.
  sort(place) {
    if (!this.customers) return 0;
    if (place.within) {
      const { speeds } = this.pool(place);
      if (speeds.length) this.paced.push({ place, rates: speeds, count: 1 });
    } else if (place.demand) {
      if (place.isOwn && this.around.copies > 1) this.paced.push({ place, rates: ratesOfOwn(place, this.around, this.most), count: 1 });
      else if (place.speeds.length) this.paced.push({ place, rates: paces(place), count: place.copies });
      else if (place.load === 0 && place.servers > this.customers) return place.demand;
      else (place.servers < SEVERAL ? this.plain : this.several).push(place);
    }
    return 0;
  }

  pool(place) { return memoized(`pool ${this.most} ${nameOf([place])}`, () => new Pool(this.networkOf, place, this.most)); }

  get isEmpty() { return !(this.plain.length + this.several.length + this.paced.length); }

  pacedAt(own) { return this.paced.findIndex(({ place }) => place === own); }
}

// A network with none, one, … up to so many customers. What has no value here is solved for each number by itself.
class Together extends Sorted {
  constructor(known, last) {
    super(known, last);
    const { pause, plain, several, paced } = this;
    this.every = this.isEmpty ? null : new EveryNumber({ most: last, think: pause, plain, several, paced });
    this.isKnown = this.every ? this.every.isInRange : pause > 0;
    Object.assign(this, { rates: null, numbers: new Map(), waits: new Map() });
    if (this.isKnown) this.rates = this.every?.rates ?? counted(last).map((n) => n / pause);
  }

  // How many are at a place, or wait for it.
  numbersAt(which) {
    if (!this.numbers.has(which)) this.numbers.set(which, this.numbersOf(this.places.find((place) => holds(place, which)), which));
    return this.numbers.get(which);
  }

  numbersOf(own, which) {
    const number = this.pacedAt(own), { every: one } = this;
    if (number >= 0) {
      const { last, copies } = one.tables[number];
      if (!own.within) return one.mean(number, counted(last), true).map((found) => copies * found);
      if (own.at !== which) return one.mean(number, this.pool(own).numbersWithin(which), false);
      return one.mean(number, this.pool(own).waiting(last), true).map((found) => Math.max(found, 0)); // differences of floats leave less
    }
    if (own.within || !own.demand) return new Float64Array(this.customers + 1);
    const waits = this.waitsAt(which);
    return counted(this.customers).map((n) => (n ? this.rates[n] * own.demand * (1 + waits[n - 1]) : 0));
  }

  // The mean waits of open visits at a station, in mean service times; null where there is no value here.
  waitsAt(which) {
    if (!this.waits.has(which)) this.waits.set(which, this.waitsOf(this.places.find((place) => holds(place, which))));
    return this.waits.get(which);
  }

  waitsOf(own) {
    if (own.within || own.speeds.length || this.pacedAt(own) >= 0) return null;
    const severalth = this.several.indexOf(own), plainth = this.plain.indexOf(own);
    if (severalth >= 0) return this.every.waitsOfSeveral(severalth);
    return plainth >= 0 ? this.every.waitsOfPlain(plainth) : new Float64Array(this.customers + 1).fill(this.alone(own.servers, own.load));
  }
}

// A network with so many customers: its rate, and what goes on at each place.
class Solved extends Sorted {
  constructor(network, customers) {
    super(network.known, customers);
    Object.assign(this, { network, rate: 0 });
    this.solve(this.pause);
  }

  solve(think) {
    const { customers, several, paced } = this;
    if (!customers || this.isEmpty) {
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
    const tables = this.paced.map(({ rates, count }) => ({ rates: rates.slice(0, this.customers), count })).map((one) => ({ ...one, logs: cumulated(one.rates) }));
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
    const number = this.pacedAt(own);
    if (number < 0) return own.demand * (1 + this.network.solved(this.customers - 1).wait(which));
    const table = this.tables[number];
    return table.copies * (this.mean(table, counted(table.last)) + this.beyond(number)) / this.whole / this.rate;
  }

  timeOfPool(pool, which) {
    const number = this.pacedAt(pool);
    if (number < 0) return 0;
    const table = this.tables[number], own = this.pool(pool);
    if (pool.at !== which) return this.mean(table, own.numbersWithin(which)) / this.whole / this.rate;
    return Math.max(this.mean(table, own.waiting(table.last)) + this.beyond(number), 0) / this.whole / this.rate; // differences of floats leave less
  }

  // The mean of values at none, one, … at a table, times all weights.
  mean(table, values) { return dot(valued(table, values, this.shares.length), this.shares); }

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
      const table = this.tables?.[this.pacedAt(own)];
      return table ? this.mean(table, waitsAtOwn(own, this.around, this.most).slice(0, table.last + 1)) / this.whole : alone;
    }
    const severalth = this.several.indexOf(own), plainth = this.plain.indexOf(own);
    if (severalth >= 0) return waitOf(this.ofSeveral[severalth], this.shares, this.numbers.map((each) => each[this.plain.length + severalth])) / this.whole;
    if (plainth < 0) return alone;
    const held = this.numbers.map((each) => each[plainth]), weights = this.product.slice(0, this.shares.length).map((one, k) => one * this.shares[k]);
    return (own.load + dot(weights, held) / this.whole) / (1 - own.load);
  }

  waitWithin(pool, which) {
    const number = this.pacedAt(pool);
    if (number < 0) return this.pool(pool).inside.solved(0).wait(which);
    return this.mean(this.tables[number], this.pool(pool).waitsWithin(which)) / this.whole;
  }
}

// -- pools -----------------------------------------------------------------------------------------------------------------------------

// What goes on at a pool, by how many are there, up to so many.
class Pool {
  constructor(networkOf, place, last) {
    const { places, copies, delay, within } = place;
    Object.assign(this, { place, last, mostWithin: Math.min(places * copies, last), numbers: new Map(), waits: new Map() });
    this.inside = networkOf(delay, within, copies > 1 ? { places, copies, areEven: false } : NO_POOL);
    this.rates = takesTime(place) ? this.inside.ratesUpTo(this.mostWithin) : [];
    const isUneven = copies > 1 && within.some((one) => one.isOwn);
    const even = isUneven && this.rates.length ? networkOf(delay, within, { places, copies, areEven: true }).ratesUpTo(this.mostWithin) : this.rates; // where the copies are all equally full
    const { held, ending } = this.rates.length ? populationWithin(even, this.rates, places, copies, place.variation, last) : { held: [], ending: [] };
    Object.assign(this, { held, ending, speeds: ending.slice(1) });
  }

  // How many wait for a place, up to some number.
  waiting(last) { return counted(last).map((n) => n - at(this.held, n)); }

  // How many are at a place within, and what open visits wait there.
  numbersWithin(which) {
    if (!this.numbers.has(which)) this.numbers.set(which, this.numbersOf(which));
    return this.numbers.get(which);
  }

  numbersOf(which) {
    const inner = [0, ...this.inside.numbersUpTo(this.mostWithin, which)], found = this.held.map((one) => at(inner, one));
    if (this.place.copies === 1) return found;
    const rates = [0, ...this.rates], delay = delayWithin(this.place);
    return found.map((one, n) => one * atStations(this.held[n], this.ending[n], at(rates, this.held[n]), delay));
  }

  waitsWithin(which) {
    if (!this.waits.has(which)) {
      const waits = [this.inside.solved(0).wait(which), ...this.inside.waitsUpTo(this.mostWithin, which)];
      this.waits.set(which, this.held.map((one) => at(waits, one)));
    }
    return this.waits.get(which);
  }
}
