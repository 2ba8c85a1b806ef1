// Closed networks with stations whose speed goes by how many are there, and with pools; `engine/queueing_networks/load_dependent_mva.py` tells how, and
// `engine/queueing_networks/load_dependent_operands.py` what they are told by: groups of five numbers, a kind first.

import { atPointElse, widened } from "../numerics/bounds.js";
import { convolved, dot, ofSeveral, onLine, sharesOf, singleServers, waitAlone, waitOf, weighed } from "./product_form.js";
import { at, evenRates, heldWithin, ownRates, ownWaits } from "./service_rate_tables.js";
import { remembered } from "../numerics/memo.js";

export const SPEED = -1;
export const OWN = -2;
export const SEVERAL = 2;
export const MOST_PLACES = 1 << 15;
const GROUP = 5, MOST_TOLD = 4096, MOST_RATES = 256, FINER = 1.03, MOST_FALLING = 1 << 20, NEAR_ONE = 20, HALVINGS = 14, ROUNDED = 1e-12, LEAST = 1e-290;
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
  const ofPlace = (value) => (which, customers, think, ...told) => {
    const places = read(customers, think, told);
    return places && every(places).some((place) => place.at === which) ? between(value(which), customers, think, places) : NaN;
  };
  return {
    nested_rate: (customers, think, ...told) => {
      const places = read(customers, think, told);
      return places ? between(rate, customers, think, places) : NaN;
    },
    nested_time: ofPlace(time),
    nested_wait: ofPlace(wait),
  };
}

function networks(erlangC) {
  const alone = (servers, load) => waitAlone(erlangC, servers, load);
  const made = (customers, think, places, around) => new Solved(alone, solved, customers, think, places, around);
  const solved = (customers, think, places, around = NO_POOL) => remembered(`nested ${customers} ${think} ${aroundOf(around)} ${nameOf(places)}`, () => made(customers, think, places, around));
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

// The rates of a copy of a station with speeds, by how many are there.
export function paces({ speeds, copies, asked }) { return speeds.map((speed) => speed * copies / asked); }

// Which rates, times and waits there are in a box (`engine/evaluators/load_dependent_bounds.py`).
export const NESTED_BOUNDS = {
  nested_rate: bounded(2, (value, lows, highs) => {
    const grows = movesOf(lows, highs);
    if (grows.some((one, k) => !one && lows[k] !== highs[k])) return [0, lows[1] ? highs[0] / lows[1] : Infinity];
    return [value(...lows.map((low, k) => (grows[k] < 0 ? highs[k] : low))), value(...highs.map((high, k) => (grows[k] < 0 ? lows[k] : high)))];
  }),
  nested_time: bounded(3, () => [0, Infinity]),
  nested_wait: bounded(3, () => [0, Infinity]),
};

// How a rate moves with each of its operands in a box: up (1), down (-1), or either (0).
function movesOf(lows, highs) {
  const found = [1, -1];
  let uneven = 0, speed = 0;
  for (let k = 2; k < lows.length; k += GROUP) {
    const [kind, , servers] = lows.slice(k, k + GROUP), [, , fastest, variation, copies] = highs.slice(k, k + GROUP);
    if (kind === SPEED && speed > servers) return lows.map(() => 0);
    speed = fastest;
    const isUneven = kind > 0 && copies > 1 && !(variation === 1 && lows[k + 3] === 1);
    if (isUneven && variation > 1) uneven = Math.max(uneven, k + GROUP * (1 + kind));
    found.push(...(k < uneven ? [0, 0, 0, 0, 0] : [0, -1, isUneven ? 0 : 1, -1, 1]));
  }
  return found;
}

function bounded(before, ends) {
  return atPointElse((value, lows, highs) => {
    if (lows.some((low, k) => k >= before && ((k - before) % GROUP ? !(low >= 0 && highs[k] < Infinity) : low !== highs[k]))) return null;
    if (!(lows[before - 2] >= 0 && lows[before - 1] >= 0) || !placesOf(lows.slice(before)) || !placesOf(highs.slice(before))) return null;
    return widened(...ends(value, lows, highs));
  });
}

// -- what is told ----------------------------------------------------------------------------------------------------------------------

function read(customers, think, told) {
  if (!(customers >= 0 && customers < Infinity && think >= 0 && think < Infinity)) return null;
  if (told.some((one, k) => !Number.isFinite(one) || (k % GROUP && one < 0))) return null;
  const places = placesOf(told);
  if (!places || customers <= MOST_PLACES) return places;
  if (every(places).some((one) => one.within && one.places * one.copies > MOST_PLACES)) return null;
  if (customers <= MOST_FALLING) return places;
  return every(places).every(({ speeds }) => !speeds?.length || Math.max(...speeds) === speeds.at(-1)) ? places : null;
}

export function placesOf(told) {
  if (told.length % GROUP) return null;
  const groups = [];
  for (let k = 0; k < told.length; k += GROUP) groups.push(told.slice(k, k + GROUP));
  return placesIn(groups, 0, groups.length, false);
}

function placesIn(groups, first, end, isWithin) {
  const found = [];
  for (let k = first; k < end;) {
    const [kind, asked, servers, load, copies] = groups[k];
    if (kind > 0) {
      const behind = k + 1 + kind;
      if (!Number.isInteger(kind) || behind > end || !(servers >= 1) || !(copies >= 1)) return null;
      const within = placesIn(groups, k + 1, behind, true);
      if (!within) return null;
      found.push({ at: k, delay: asked, places: servers, copies, variation: load, within });
      k = behind;
      continue;
    }
    if ((kind !== 0 && kind !== OWN) || (kind === OWN && !isWithin) || !(copies > 0)) return null;
    let last = k + 1;
    while (last < end && groups[last][0] === SPEED) last++;
    const speeds = last > k + 1 ? groups.slice(k, last).map((group) => group[2]) : [];
    if (speeds.length ? !speeds.every((speed) => speed > 0) : !(servers >= 1)) return null;
    const one = speeds.length ? { at: k, asked, servers: 1, load: 0, copies, speeds } : { at: k, asked, servers, load, copies, speeds };
    if (copies < 1) Object.assign(one, { asked: asked / copies, copies: 1 }); // one that takes longer
    found.push({ ...one, isOwn: kind === OWN });
    k = last;
  }
  return found;
}

export function every(places) { return places.flatMap((place) => [place, ...(place.within ? every(place.within) : [])]); }

function holds(place, which) { return every([place]).some((one) => one.at === which); }

export function neverEnds(place) { return every([place]).some(({ asked, load, servers }) => asked > 0 && load >= servers); }

function nameOf(places) {
  return places.map((one) => `${one.at}:${one.within ? `${one.delay} ${one.places} ${one.copies} ${one.variation}(${nameOf(one.within)})` : `${one.asked} ${one.servers} ${one.load} ${one.copies} ${one.isOwn} ${one.speeds}`}`).join(";");
}

// A value on lines between whole numbers of customers, servers, places and copies; copies of single servers need not be whole.
function between(value, customers, think, places) {
  if (!Number.isInteger(customers)) return onLine(customers, (n) => between(value, n, think, places));
  for (const [k, place] of places.entries()) {
    const found = notWhole(place);
    if (found) return onLine(found.count, (n) => between(value, customers, think, places.with(k, found.changed(n))));
  }
  return value(customers, think, places);
}

function notWhole(place) {
  const isCounted = place.within || place.speeds.length || place.isOwn || place.servers >= SEVERAL;
  for (const name of [place.within ? "places" : "servers", ...(isCounted ? ["copies"] : [])]) {
    if (!Number.isInteger(place[name])) return { count: place[name], changed: (n) => ({ ...place, [name]: n }) };
  }
  for (const [k, one] of (place.within ?? []).entries()) {
    const found = notWhole(one);
    if (found) return { count: found.count, changed: (n) => ({ ...place, within: place.within.with(k, found.changed(n)) }) };
  }
  return null;
}

// -- networks --------------------------------------------------------------------------------------------------------------------------

// A network with so many customers: its rate, and what goes on at each place.
class Solved {
  constructor(alone, solved, customers, think, places, around) {
    Object.assign(this, { alone, solved, customers, think, places, around, plain: [], several: [], paced: [], rate: 0 });
    this.most = Math.max(MOST_TOLD, 2 ** (customers ? Math.floor(Math.log2(customers)) + 1 : 0));
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
    } else if (place.asked) {
      if (place.isOwn && this.around.copies > 1) this.paced.push({ place, rates: ratesOfOwn(place, this.around, this.most), count: 1 });
      else if (place.speeds.length) this.paced.push({ place, rates: paces(place), count: place.copies });
      else if (place.load === 0 && place.servers > this.customers) return place.asked;
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
    const told = paced.map(({ rates, count }) => ({ rates: rising(rates, customers), count }));
    const base = [...this.singles(), ...told.map(({ rates, count }) => [1 / rates.at(-1), count])];
    const degree = total(several.map(({ copies, servers }) => copies * (servers - 1))) + total(told.map(({ rates, count }) => count * rates.length));
    const before = Math.min(degree + 2, customers), { rates, numbers } = singleServers(customers, think, base, before);
    const unit = before < NEAR_ONE ? rates[0] : this.near(think);
    this.shares = sharesOf(rates, unit);
    this.numbers = numbers;
    this.ofSeveral = several.map((one) => ofSeveral([one.asked, one.servers, one.load, one.copies], unit));
    this.tables = told.map((one) => tableOf(one.rates, one.count, unit));
    const own = [...this.ofSeveral, ...this.tables], ones = new Array(this.shares.length).fill(1);
    this.product = own.length ? weighed(own, ones, customers) : [1];
    this.whole = dot(this.product, this.shares);
    this.rate = unit * dot(this.product, this.shares.slice(1)) / this.whole;
  }

  singles() { return [...this.plain, ...this.several].map(({ asked, servers, load, copies }) => [asked / copies / (servers - load), copies]); }

  // About the rate: at which as many would be there of open arrivals.
  near(think) {
    const singles = this.singles();
    let delay = think;
    [...this.plain, ...this.several].forEach(({ asked, servers }, k) => { if (servers > 1) delay += asked - singles[k][0] * singles[k][1]; });
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
    if (!own.asked) return 0;
    const number = this.paced.findIndex(({ place }) => place === own);
    if (number < 0) return own.asked * (1 + this.solved(this.customers - 1, this.think, this.places, this.around).wait(which));
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
    return remembered(`rates ${nameOf([pool])} ${this.most}`, () => onGrid((n) => this.inner(pool, n).rate, this.mostWithin(pool)));
  }

  // The same where the copies of a pool are all equally full.
  evenRatesWithin(pool) {
    if (pool.copies === 1 || !pool.within.some((place) => place.isOwn)) return this.ratesWithin(pool);
    const around = { places: pool.places, copies: pool.copies, areEven: true };
    return onGrid((n) => this.solved(n, pool.delay, pool.within, around).rate, this.mostWithin(pool));
  }

  filled(pool) {
    return remembered(`filled ${nameOf([pool])} ${this.most}`, () => heldWithin(this.evenRatesWithin(pool), this.ratesWithin(pool), pool.places, pool.copies, pool.variation, this.most));
  }

  heldOf(pool) { return this.filled(pool).held; }

  speedsOf(pool) { return this.ratesWithin(pool).length ? this.filled(pool).ending.slice(1) : []; }
}

// How long an item is at no station while it holds a place, nor waits for a pool.
function delayWithin({ delay, within }) { return within.reduce((sum, one) => sum + (one.within ? delayWithin(one) : 0), delay); }

// How many more are at stations where so many end in a time than where others do, of as many within: the rest goes through the delay.
function atStations(held, rate, even, delay) {
  const there = held - even * delay;
  return there > 0 ? (held - rate * delay) / there : 1;
}

// A station by its rates, the last one for all numbers beyond, as a polynomial over 1 - r z.
function tableOf(rates, copies, unit) {
  const ratio = unit / rates.at(-1), logs = [0];
  for (const rate of rates) logs.push(logs.at(-1) + Math.log(unit / rate));
  const largest = most(logs), weights = logs.map((one) => Math.exp(one - largest));
  const own = weights.slice(0, -1).map((one, k) => (k ? Math.max(one - ratio * weights[k - 1], 0) : one)), whole = total(own);
  return { copies, ratio, last: rates.length, full: weights.map((one) => one / whole), weights: own.map((one) => one / whole), others: [1] };
}

// Rates of which the last is the largest: beyond all customers they are as we like.
function rising(rates, customers) {
  const largest = most(rates);
  if (largest <= rates.at(-1) * (1 + ROUNDED)) return [...rates.slice(0, -1), largest];
  const told = [...rates];
  while (told.length < customers + 1) told.push(rates.at(-1));
  return [...told.slice(0, customers + 1), largest];
}

// The rates of stations of which each copy of a pool has one, by how many are there, and what open visits wait at one.
function ratesOfOwn(station, around, last) {
  return remembered(`own rates ${nameOf([station])} ${aroundOf(around)} ${last}`, () => {
    const { places, copies, areEven } = around, { weights, unit } = station.speeds.length ? slowerOf(station, places) : summedOf(station, places);
    return (areEven ? evenRates : ownRates)(weights, places, copies, last, LEAST).map((rate) => rate * unit);
  });
}

function waitsAtOwn(station, around, last) {
  return remembered(`own waits ${nameOf([station])} ${aroundOf(around)} ${last}`, () => {
    const { places, copies } = around, { weights, waits } = summedOf(station, places);
    return ownWaits(weights, waits, places, copies, last, LEAST);
  });
}

function slowerOf({ asked, speeds }, places) {
  const fastest = speeds.at(-1), weights = [1];
  for (let n = 0; n < places; n++) weights.push(weights.at(-1) * fastest / (speeds[n] ?? fastest));
  return { weights, unit: fastest / asked };
}

// The weights of a copy by how many are there, up to all places, and these times what an open visit waits.
function summedOf({ asked, servers, load }, places) {
  const unit = (servers - load) / asked, { weights, waits, growing } = ofSeveral([asked, servers, load, 1], unit), behind = servers - 1;
  return { unit, weights: summed(weights, places), waits: summed(waits, places).map((one, k) => one + growing * Math.max(k - behind, 0)) };
}

function summed(polynomial, last) {
  const found = [];
  for (let k = 0; k <= last; k++) found.push((found.at(-1) ?? 0) + (polynomial[k] ?? 0));
  return found;
}

function aroundOf({ places, copies, areEven }) { return `${places} ${copies} ${areEven}`; }

function takesTime(place) { return place.within ? place.delay > 0 || place.within.some(takesTime) : place.asked > 0; }

// Values of one, two, … up to some one by one, then on lines.
function onGrid(value, last) {
  const found = [];
  for (let n = 1; n <= Math.min(last, MOST_RATES); n++) found.push(value(n));
  for (let n = MOST_RATES; n < last;) {
    const following = Math.min(last, Math.floor(n * FINER) + 1), low = found.at(-1), high = value(following), steps = following - n;
    for (let k = 1; k <= steps; k++) found.push(low + (high - low) * k / steps);
    n = following;
  }
  return found;
}

function cumulated(rates) {
  const found = [0];
  for (const rate of rates) found.push(found.at(-1) + Math.log(rate));
  return found;
}

// How many are at a table of rates of open arrivals, at most so many customers.
function numberOf(logs, rates, rate, customers) {
  if (rate <= 0) return 0;
  const each = Math.log(rate), told = logs.map((one, n) => n * each - one), largest = most(told), ratio = rate / rates.at(-1), last = rates.length;
  if (ratio >= 1) {
    if (most(rates) <= rates.at(-1) * (1 + ROUNDED)) return Infinity;
    if (told.at(-1) + Math.max(customers - last, 0) * Math.log(ratio) > largest) return customers;
  }
  const weights = told.map((one) => Math.exp(one - largest));
  let held = total(weights.map((one, n) => n * one)), whole = total(weights);
  if (ratio < 1) {
    const tail = weights.at(-1) * ratio / (1 - ratio);
    held += tail * (last + 1 / (1 - ratio));
    whole += tail;
  }
  return held / whole;
}

function counted(last) { return Array.from({ length: last + 1 }, (_, n) => n); }

function total(values) { return values.reduce((before, one) => before + one, 0); }

function most(values) { return values.reduce((one, other) => Math.max(one, other), -Infinity); }
