// Closed queueing networks: customers of one class who think, then visit stations; `engine/queueing_networks/product_form.py` tells how. A station
// is four numbers: the service that a cycle asks of it, the servers of a copy, the open load of a copy, and how many copies it has.

import { atPopulation } from "./normalizing_integral.js";
import { logGamma } from "../numerics/gamma.js";
import { linearized } from "./linearizer.js";
import { memoizing } from "../numerics/memo.js";
import { risingRoot } from "../numerics/roots.js";

const MAX_STEPS = 400, MAX_DEGREE = 8192, NEAR_ONE = 100, SEVERAL = 2, LARGEST = 600;

// `erlangC` is that of the numbers of queues, which know this module.
export function closedNumbers(erlangC) {
  const waits = closedWaits(erlangC);
  const cycle = (others, think, stations) => { // of one, while so many others come round
    if (stations.some(neverEnds)) return Infinity;
    const each = waits(others, think, stations);
    return stations.reduce((before, [demand], k) => (demand ? before + demand * (1 + each[k]) : before), think);
  };
  const rate = (customers, think, stations) => {
    if (customers === 0) return 0;
    const time = cycle(customers - 1, think, stations);
    return time > 0 ? customers / time : Infinity;
  };
  const wait = (customers, think, stations) => {
    const [own, ...others] = stations;
    if (own[2] >= own[1]) return Infinity;
    return waits(others.some(neverEnds) ? 0 : customers, think, stations)[0];
  };
  return {
    closed_rate: (customers, think, ...operands) => {
      const stations = stationsOf(customers, think, operands);
      return stations ? between(rate, customers, think, stations) : NaN;
    },
    closed_cycle: (customers, think, ...operands) => {
      const stations = stationsOf(customers, think, operands);
      return stations ? between(cycle, Math.max(customers - 1, 0), think, stations) : NaN;
    },
    closed_wait: (customers, think, ...operands) => {
      const stations = stationsOf(customers, think, operands);
      if (!stations?.length) return NaN;
      const [demand] = operands, [[longer]] = stations;
      return demand === 0 ? 0 : longer * between(wait, Math.max(customers - 1, 0), think, stations) + (longer - demand);
    },
    mixed_wait: (customers, think, ...operands) => {
      const stations = stationsOf(customers, think, operands);
      return stations?.length ? between(wait, customers, think, stations) : NaN;
    },
    // How much more open load a copy of the first station takes until it is loaded to a limit, in erlangs.
    mixed_room: (limit, customers, think, ...operands) => {
      if (!stationsOf(customers, think, operands)?.length || !(limit >= 0 && limit < Infinity)) return NaN;
      const [demand, servers, load, copies] = operands, most = limit * servers;
      const closed = (open) => (demand ? (demand / copies) * between(rate, customers, think, stationsOf(customers, think, operands.with(2, open))) : 0);
      const over = (open) => open - most + closed(open);
      if (limit >= 1) return Math.max(0, most - load); // less than all is asked for, until open load is all of it
      return load >= most || over(load) >= 0 ? 0 : risingRoot(over, load, most) - load;
    },
  };
}

// The waits of open visits at each station of a network. In whichever order stations are told, the network is the same:
// it is asked for in the order of each of its stations.
export function closedWaits(erlangC) {
  const found = memoizing((customers, think, ...operands) => waitsOf(erlangC, customers, think, grouped(operands)));
  return (customers, think, stations) => {
    const order = [...stations.keys()].sort((one, other) => compared(stations[one], stations[other]));
    const solved = found(customers, think, ...order.flatMap((k) => stations[k])), waits = [];
    order.forEach((k, place) => { waits[k] = solved[place]; });
    return waits;
  };
}

function grouped(operands) { return Array.from({ length: operands.length / 4 }, (_, k) => operands.slice(4 * k, 4 * k + 4)); }

function compared(one, other) {
  const k = one.findIndex((part, place) => part !== other[place]);
  return k < 0 ? 0 : one[k] - other[k];
}

// Null where there is no value; less than one copy is one that takes longer.
export function stationsOf(customers, think, operands) {
  const isThere = [customers, think, ...operands].every((one) => one >= 0 && one < Infinity);
  if (!isThere || operands.some((one, k) => (k % 4 === 1 && one < 1) || (k % 4 === 3 && one === 0))) return null;
  const stations = [];
  for (let k = 0; k < operands.length; k += 4) {
    const [demand, servers, load, copies] = operands.slice(k, k + 4);
    stations.push(copies < 1 ? [demand / copies, servers, load, 1] : [demand, servers, load, copies]);
  }
  return stations;
}

// A value on lines between whole numbers of customers, servers and copies of several servers.
export function between(value, customers, think, stations) {
  if (!Number.isInteger(customers)) return onLine(customers, (n) => between(value, n, think, stations));
  for (const [k, [demand, servers, load, copies]] of stations.entries()) {
    const changed = (one) => between(value, customers, think, stations.with(k, one));
    if (!Number.isInteger(servers)) return onLine(servers, (c) => changed([demand, c, load, copies]));
    if (servers >= SEVERAL && !Number.isInteger(copies)) return onLine(copies, (m) => changed([demand, servers, load, m]));
  }
  return value(customers, think, stations);
}

// What lies between the values at the whole numbers on both sides of a count; an infinite one if one is.
export function onLine(count, value) {
  const whole = Math.floor(count), low = value(whole), high = value(whole + 1);
  return Number.isFinite(low) && Number.isFinite(high) ? low + (count - whole) * (high - low) : Math.max(low, high);
}

// The wait where there are no closed customers.
export function waitAlone(erlangC, servers, load) { return load >= servers ? Infinity : erlangC(servers, load) / (servers - load); }

function neverEnds([demand, servers, load]) { return demand > 0 && load >= servers; }

// Whether a server is free whoever comes, so surely that floats tell no difference.
function hasNoQueueing(customers, servers, load) {
  const free = servers - customers;
  if (load === 0 || free <= load) return load === 0 && free > 0;
  return free - load - free * Math.log(free / load) < -745;
}

// The mean wait of an open visit at each station, in mean service times.
function waitsOf(erlangC, customers, pause, stations) {
  const waits = stations.map(([, servers, load]) => waitAlone(erlangC, servers, load));
  const plain = [], several = [];
  let think = pause;
  stations.forEach(([demand, servers, load], k) => {
    if (!customers || !demand) return;
    if (hasNoQueueing(customers, servers, load)) think += demand;
    else (servers < SEVERAL ? plain : several).push(k);
  });
  const among = [...plain, ...several];
  if (!among.length) return waits;
  const base = among.map((k) => [stations[k][0] / stations[k][3] / (stations[k][1] - stations[k][2]), stations[k][3]]);
  const degree = sum(several.map((k) => stations[k][3] * (stations[k][1] - 1)));
  let near = 0;
  if (Math.min(degree, customers) > NEAR_ONE) {
    const places = among.map((k) => ({ demand: [stations[k][0]], servers: stations[k][1], load: stations[k][2], copies: stations[k][3] }));
    const found = linearized(erlangC, { customers: [customers], think: [think], places });
    near = customers / (think + sum(places.map(({ demand: [demand] }, i) => demand * (1 + found.waits[i][0]))));
    if (Math.min(degree, customers) > MAX_DEGREE) {
      found.openWaits.forEach((wait, place) => { waits[among[place]] = wait; });
      return waits;
    }
  }
  const { rates, numbers } = singleServers(customers, think, base, Math.min(degree, customers));
  const unit = near || rates[0], shares = sharesOf(rates, unit);
  let weights = [1];
  if (several.length) {
    const own = several.map((k) => ofSeveral(stations[k], unit));
    weights = weighed(own, shares, customers);
    const whole = sum(weights);
    several.forEach((k, place) => { waits[k] = waitOf(own[place], shares, numbers.map((each) => each[plain.length + place])) / whole; });
  }
  const whole = sum(weights);
  plain.forEach((k, place) => {
    const load = stations[k][2];
    waits[k] = (load + dot(weights, numbers.map((each) => each[place])) / whole) / (1 - load);
  });
  return waits;
}

// Products of rates over one of them; the largest is 1.
export function sharesOf(rates, unit) {
  const logs = [0];
  for (const rate of rates) logs.push(logs.at(-1) + (rate ? Math.log(rate / unit) : -Infinity));
  const most = logs.reduce((one, other) => Math.max(one, other));
  return logs.map((one) => Math.exp(one - most));
}

// Rates and numbers of a network of single servers, for so many customers and for fewer, the largest number first.
export function singleServers(customers, think, stations, before) {
  const isFew = customers - before <= MAX_STEPS, first = isFew ? 0 : customers - before;
  const start = isFew ? { rate: 0, held: stations.map(() => 0) } : atPopulation(first, think, stations);
  const count = stations.length, rates = [start.rate], numbers = [start.held], cycles = new Float64Array(count);
  let held = start.held;
  for (let n = first + 1; n <= customers; n++) {
    let cycle = think;
    for (let k = 0; k < count; k++) cycle += stations[k][1] * (cycles[k] = stations[k][0] * (1 + held[k]));
    const rate = n / cycle, isNeeded = customers - n <= before;
    if (isNeeded || n === first + 1) held = new Float64Array(count); // mean value analysis: who comes finds what there is without it
    for (let k = 0; k < count; k++) held[k] = rate * cycles[k];
    if (!isNeeded) continue;
    rates.push(rate);
    numbers.push(held);
  }
  if (customers - first > before) { // what was begun with is of too few
    rates.shift();
    numbers.shift();
  }
  return { rates: rates.reverse(), numbers: numbers.reverse() };
}

// The polynomials of a station of several servers.
export function ofSeveral([demand, servers, load, copies], rate) {
  const busy = demand / copies * rate, part = load / servers, last = servers - 1;
  const closed = poisson(busy, servers), held = poisson(load, servers);
  const below = [0], weights = [], waits = [];
  for (const share of held) below.push(below.at(-1) + share);
  let full = 0, excess = 0;
  for (let k = 0; k < servers; k++) {
    const before = full;
    full = (full * busy / servers + closed[k] * held[last - k]) / (1 - part);
    excess = (part * full + (excess + before) * busy / servers) / (1 - part);
    weights.push(closed[k] * below[last - k] + full);
    waits.push(excess / servers);
  }
  const ratio = busy / (servers - load);
  const lessOwn = (values) => values.map((value, k) => (k ? Math.max(value - ratio * values[k - 1], 0) : value));
  const own = lessOwn(weights), whole = sum(own); // so that powers of it stay numbers
  return { copies, servers, growing: weights[last] / (servers - load) / whole, weights: own.map((one) => one / whole), waits: lessOwn(waits).map((one) => one / whole), others: [1] };
}

export function waitOf({ servers, growing, waits, others }, shares, numbers) {
  const held = shares.slice(0, numbers.length).map((share, k) => share * numbers[k]).slice(servers - 1);
  return dot(convolved(others, waits, shares.length), shares) + growing * dot(others, held);
}

export function poisson(mean, count) {
  const found = [];
  for (let k = 0, share = Math.exp(-mean); k < count; k++) {
    found.push(mean > LARGEST ? Math.exp(k * Math.log(mean) - mean - logGamma(k + 1)) : share);
    share *= mean / (k + 1);
  }
  return found;
}

// The product of all polynomials, times the weights of populations; each station is told that of all others.
export function weighed(stations, shares, most) {
  const size = Math.min(most + 1, shares.length);
  const fewer = stations.map((one) => powered(one.weights, one.copies - 1, size));
  const each = stations.map((one, k) => convolved(fewer[k], one.weights, size));
  const ahead = [[1]];
  for (const one of each) ahead.push(convolved(ahead.at(-1), one, size));
  let behind = [1];
  for (let k = stations.length - 1; k >= 0; k--) {
    stations[k].others = convolved(convolved(ahead[k], behind, size), fewer[k], size);
    behind = convolved(behind, each[k], size);
  }
  return behind.map((one, k) => one * shares[k]);
}

export function powered(values, exponent, size) {
  let found = [1], square = values;
  for (let rest = exponent; rest; rest = Math.floor(rest / 2)) {
    if (rest % 2) found = convolved(found, square, size);
    if (rest > 1) square = convolved(square, square, size);
  }
  return found;
}

export function convolved(one, other, size) {
  const found = new Float64Array(Math.min(one.length + other.length - 1, size)), most = Math.min(one.length, size);
  for (let k = 0; k < most; k++) {
    const own = one[k], end = Math.min(other.length, size - k);
    for (let j = 0; j < end; j++) found[k + j] += own * other[j];
  }
  return found;
}

function sum(values) { return values.reduce((total, value) => total + value, 0); }

export function dot(one, other) {
  let total = 0;
  for (let k = 0; k < Math.min(one.length, other.length); k++) total += one[k] * other[k];
  return total;
}
