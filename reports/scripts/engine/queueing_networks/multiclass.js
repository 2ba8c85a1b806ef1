// Closed queueing networks with customers of several classes; `engine/queueing_networks/multiclass_mva.py` tells how, and `engine/queueing_networks/multiclass_operands.py`
// what they are told by. A place has the servers and the open load of a copy, copies, and what each class asks.

import { atPointElse, widened } from "../numerics/bounds.js";
import { classQuantile } from "./multiclass_cycle_times.js";
import { ofSeveral, onLine, waitAlone } from "./product_form.js";
import { linearized } from "./linearizer.js";
import { memoized } from "../numerics/memo.js";

const MAX_STATES = 100000, MAX_POWERS = 400000;

// `erlangC` is that of the numbers of queues, which know this module.
export function classNumbers(erlangC, ofMoments) {
  const found = (network) => memoized(JSON.stringify(network), () => solved(erlangC, network));
  const rate = (k) => (network) => found(network).rates[k];
  return {
    class_rate: (classes, of, ...operands) => {
      const network = isOne(classes, of) ? networkOf(classes, operands) : null;
      return network ? between(rate(of - 1), network) : NaN;
    },
    class_wait: (classes, of, ...operands) => {
      const network = isOne(classes, of) ? networkOf(classes, operands) : null;
      if (!network?.places.length) return NaN;
      const demand = operands[2 * classes + 3 + of - 1], longer = network.places[0].demand[of - 1];
      return demand === 0 ? 0 : longer * between((one) => found(one).waits[0][of - 1], network) + (longer - demand);
    },
    class_open_wait: (classes, ...operands) => {
      const network = networkOf(classes, operands);
      return network?.places.length ? between((one) => found(one).openWaits[0], network) : NaN;
    },
    class_quantile: classQuantile({ networkOf, found, onLines: between, erlangC }, ofMoments),
  };
}

// What a class has in a box: a class has no more than it would have alone, nor more than the slowest place lets through; nobody waits
// for more than all others at one copy (`engine/evaluators/multiclass_bounds.py`).
export const CLASS_BOUNDS = {
  class_rate: bounded(2, (best, worst, k) => {
    const ownCycle = best.think[k] + total(best.places.map(({ demand }) => demand[k]));
    const most = Math.min(ownCycle ? best.customers[k] / ownCycle : Infinity, ...best.places.filter(({ demand }) => demand[k]).map((one) => one.copies * Math.max(one.servers - one.load, 0) / one.demand[k]));
    const longest = worst.think[k] + total(worst.places.map(({ demand }, at) => (demand[k] ? demand[k] * (1 + longestWait(best, worst, at)) : 0)));
    return [longest ? Math.min(worst.customers[k] / longest, most) : 0, most];
  }),
  class_wait: bounded(2, (best, worst, k) => {
    const demand = worst.places[0].demand[k];
    return [0, demand ? demand * (1 + longestWait(best, worst, 0)) : 0];
  }),
  class_open_wait: bounded(1, (best, worst) => [0, longestWait(best, worst, 0)]),
  class_quantile: atPointElse(() => null),
};

function bounded(before, ends) {
  return atPointElse((_, lows, highs) => {
    const [count] = lows, of = lows[before - 1], sides = { best: [], worst: [] };
    if (count !== highs[0] || of !== highs[before - 1] || (before === 2 && !isOne(count, of))) return null;
    for (let at = before; at < lows.length; at++) {
      if (!(lows[at] >= 0 && highs[at] < Infinity)) return null;
      const own = at - before, kind = own < count ? 0 : own < 2 * count ? -1 : (own - 2 * count) % (count + 3);
      const isMore = kind === 0 || kind === 2; // customers, servers and copies
      sides.best.push(isMore ? Math.ceil(highs[at]) : lows[at]);
      sides.worst.push(isMore ? (kind === 2 && lows[at] < 1 ? lows[at] : Math.floor(lows[at])) : highs[at]);
    }
    const best = networkOf(count, sides.best), worst = networkOf(count, sides.worst);
    if (!best || !worst || (!best.places.length && !(before === 2 && isOne(count, of)))) return null;
    return widened(...ends(best, worst, of - 1));
  });
}

function longestWait(best, worst, at) {
  const { servers, load } = worst.places[at];
  return load >= servers ? Infinity : (Math.max(total(best.customers), best.places[at].servers - 1) + 1) / (servers - load);
}

function isOne(classes, of) { return Number.isInteger(of) && of >= 1 && of <= classes; }

// Null where there is none; less than one copy is one that takes longer.
function networkOf(count, operands) {
  if (!(Number.isInteger(count) && count >= 1 && operands.length >= 2 * count && operands.every((one) => one >= 0 && one < Infinity))) return null;
  const size = count + 3, places = [];
  if ((operands.length - 2 * count) % size) return null;
  for (let at = 2 * count; at < operands.length; at += size) {
    const [servers, load, copies, ...demand] = operands.slice(at, at + size);
    if (servers < 1 || copies === 0) return null;
    places.push({ servers, load, copies: Math.max(copies, 1), demand: demand.map((one) => one * Math.max(1, 1 / copies)) });
  }
  return { customers: operands.slice(0, count), think: operands.slice(count, 2 * count), places };
}

// A value on lines between whole numbers of customers, servers and copies of several servers; the Linearizer knows parts of customers.
function between(value, network) {
  const whole = { ...network, customers: network.customers.map(Math.floor) };
  return onLines(value, network, !isExactly(waitedFor({ ...whole, customers: activeCustomers(whole).active }).inner));
}

function onLines(value, network, inParts) {
  const line = (count, changed) => onLine(count, (one) => onLines(value, { ...network, ...changed(one) }, inParts));
  const { customers, places } = network, at = (i, own) => ({ places: places.with(i, { ...places[i], ...own }) });
  const k = inParts ? -1 : customers.findIndex((one) => !Number.isInteger(one));
  if (k >= 0) return line(customers[k], (n) => ({ customers: customers.with(k, n) }));
  for (const [i, { servers, copies }] of places.entries()) {
    if (!Number.isInteger(servers)) return line(servers, (c) => at(i, { servers: c }));
    if (servers > 1 && !Number.isInteger(copies)) return line(copies, (m) => at(i, { copies: m }));
  }
  return value(network);
}

// Rates of classes, what they wait at each place over what they ask, and what open visits do.
function solved(erlangC, network) {
  const { active, rates } = activeCustomers(network), { think, places } = network, { waits, openWaits } = waitsOf(erlangC, { ...network, customers: active });
  active.forEach((count, k) => {
    if (count) rates[k] = count / (think[k] + total(places.map(({ demand }, i) => (demand[k] ? demand[k] * (1 + waits[i][k]) : 0))));
  });
  return { rates, waits, openWaits };
}

// The customers who go on and on, with the rates of those who never or always end.
function activeCustomers({ customers, think, places }) {
  const active = [...customers], rates = customers.map(() => 0);
  customers.forEach((count, k) => {
    const visited = places.filter(({ demand }) => demand[k] > 0);
    if (visited.some(({ load, servers }) => load >= servers)) active[k] = 0; // all of them are there
    else if (!visited.length && think[k] === 0) {
      active[k] = 0;
      rates[k] = count ? Infinity : 0;
    }
  });
  return { active, rates };
}

// A network of the places where somebody may wait, and which these are; the other ones delay.
function waitedFor({ customers, think: pauses, places }) {
  const most = total(customers), among = [];
  let think = pauses;
  places.forEach(({ servers, load, demand }, i) => {
    if (!demand.some((one, k) => one * customers[k])) return;
    if (load === 0 && servers > most) think = think.map((pause, k) => pause + demand[k]);
    else among.push(i);
  });
  return { inner: { customers, think, places: among.map((i) => places[i]) }, among };
}

function waitsOf(erlangC, network) {
  const openWaits = network.places.map(({ servers, load }) => waitAlone(erlangC, servers, load));
  const waits = openWaits.map((wait) => network.customers.map(() => wait)), { inner, among } = waitedFor(network);
  const found = isExactly(inner) ? exactly(inner) : linearized(erlangC, inner);
  among.forEach((i, at) => {
    waits[i] = found.waits[at];
    openWaits[i] = found.openWaits[at];
  });
  return { waits, openWaits };
}

function isExactly({ customers, places }) {
  const more = total(places.map(({ servers, copies }) => (servers > 1 ? Math.floor(copies) * Math.floor(servers - 1) : 0)));
  return isExact(customers, places.length, more);
}

function isExact(customers, places, more) {
  const powers = customers.reduce((all, count) => all * (Math.min(count, more) + 1), more);
  const states = customers.reduce((all, count) => all * (count + 1), Math.max(places, 1));
  return states <= MAX_STATES && powers * customers.length * Math.max(places, 1) <= MAX_POWERS;
}

// -- exactly: by all populations up to that of a network ------------------------------------

function exactly(network) {
  const states = allStates(network), { customers, places } = network;
  const seen = customers.map((count, k) => openWaitsAt(states, count ? customers.with(k, count - 1) : customers));
  return { waits: places.map((_, i) => seen.map((each) => each[i])), openWaits: openWaitsAt(states, customers) };
}

function stridesOf(sizes) { return sizes.map((_, k) => sizes.slice(k + 1).reduce((all, size) => all * size, 1)); }

// Mean value analysis of the network in which the servers of a copy are one that is as quick as all.
function allStates({ customers, think, places }) {
  const sizes = customers.map((count) => count + 1), strides = stridesOf(sizes), count = sizes.reduce((all, size) => all * size, 1);
  const ratios = places.map((one) => one.demand.map((demand) => demand / one.copies / (one.servers - one.load)));
  const rates = [], numbers = [];
  for (let at = 0; at < count; at++) {
    const own = customers.map(() => 0), held = places.map(() => 0);
    for (let k = 0; k < customers.length; k++) {
      const here = Math.floor(at / strides[k]) % sizes[k];
      if (!here) continue;
      const before = numbers[at - strides[k]], times = before.map((number, i) => ratios[i][k] * (1 + number));
      own[k] = here / (think[k] + total(times.map((time, i) => places[i].copies * time)));
      for (let i = 0; i < held.length; i++) held[i] += own[k] * times[i];
    }
    rates.push(own);
    numbers.push(held);
  }
  return { places, strides, rates, numbers };
}

function openWaitsAt(states, customers) {
  const { places, strides, numbers } = states, top = dot(customers, strides);
  if (places.every(({ servers }) => servers === 1)) return places.map(({ load }, i) => (load + numbers[top][i]) / (1 - load));
  const box = boxOf(states, customers, top), weights = product(box, box.own.map(({ copies }) => copies)), whole = dot(weights, box.shares);
  const held = (i) => box.shares.map((share, at) => share * box.numbers[at][i]);
  return places.map(({ servers, load }, i) => {
    if (servers === 1) return (load + dot(weights, held(i)) / whole) / (1 - load);
    const place = box.several.indexOf(i), { polynomial, line } = box.own[place];
    const others = product(box, box.own.map(({ copies }, one) => copies - (one === place ? 1 : 0)));
    const last = [...new Array(servers - 1).fill(0), 1];
    return (dot(timesPolynomial(box, others, polynomial.waits, line), box.shares) + polynomial.growing * dot(timesPolynomial(box, others, last, line), held(i))) / whole;
  });
}

// The populations that polynomials of several servers reach, below one: weights and numbers.
function boxOf(states, customers, top) {
  const { places, strides, rates, numbers } = states, several = places.flatMap(({ servers }, i) => (servers > 1 ? [i] : []));
  const degree = total(several.map((i) => places[i].copies * (places[i].servers - 1)));
  const sizes = customers.map((count) => Math.min(count, degree) + 1), own = stridesOf(sizes), unit = rates[top].map((rate) => rate || 1);
  const box = { several, sizes, strides: own, shares: [], numbers: [] };
  for (let at = 0; at < sizes.reduce((all, size) => all * size, 1); at++) {
    const less = sizes.map((size, k) => Math.floor(at / own[k]) % size), here = top - dot(less, strides), k = less.findIndex((one) => one);
    box.numbers.push(numbers[here]);
    box.shares.push(k < 0 ? 1 : box.shares[at - own[k]] * rates[here + strides[k]][k] / unit[k]);
  }
  box.own = several.map((i) => {
    const { servers, load, copies, demand } = places[i], line = demand.map((one, k) => one / copies * unit[k]), busy = total(line);
    return { polynomial: ofSeveral([busy, servers, load, 1], 1), copies, line: line.map((part) => part / busy) };
  });
  return box;
}

function product(box, counts) {
  let values = box.shares.map((_, at) => (at ? 0 : 1));
  box.own.forEach(({ polynomial, line }, one) => {
    for (let k = 0; k < counts[one]; k++) values = timesPolynomial(box, values, polynomial.weights, line);
  });
  return values;
}

// Coefficients times a polynomial in a sum of classes (Horner).
function timesPolynomial({ sizes, strides }, values, factor, line) {
  let found = values.map((value) => factor.at(-1) * value);
  for (let j = factor.length - 2; j >= 0; j--) {
    const moved = values.map((value) => factor[j] * value);
    for (let k = 0; k < sizes.length; k++) {
      if (!line[k] || sizes[k] === 1) continue;
      for (let at = strides[k]; at < found.length; at++) if (Math.floor(at / strides[k]) % sizes[k]) moved[at] += line[k] * found[at - strides[k]];
    }
    found = moved;
  }
  return found;
}

function total(values) { return values.reduce((sum, value) => sum + value, 0); }

function dot(one, other) { return one.reduce((sum, value, k) => sum + value * other[k], 0); }
