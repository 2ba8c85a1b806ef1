// Closed networks of several classes with speeds and pools that they share: `engine/queueing_networks/multiclass_load_dependent_numbers.py` tells how, and
// `engine/queueing_networks/multiclass_load_dependent_operands.py` what they are told by: groups of numbers, of all classes and of each, a kind first.

import { atPointElse, widened } from "../numerics/bounds.js";
import { FixedPointSteps } from "../numerics/fixed_points.js";
import { onLine, waitAlone } from "./product_form.js";
import { Linearizer } from "./linearizer.js";
import { every, MAX_PLACES, neverEnds, OWN, placesOf, SEVERAL, SPEED } from "./load_dependent_operands.js";
import { staysOf } from "./service_rate_stays.js";
import { memoized } from "../numerics/memo.js";

const BEFORE = 4, LIMIT = -3, MAX_TURNS = 60, ENOUGH = 1e-12, ROUNDED = 1e-10, AHEAD = 1, MUCH = 0.03, FIRST_ONE = 1e-9;

// `erlangC` is that of the numbers of queues, which know this module.
export function sharedNumbers(erlangC) {
  const stays = staysOf(erlangC), found = (network) => memoized(`shared ${JSON.stringify(network)}`, () => solved(erlangC, stays, network));
  const ofPlace = (which, network) => Boolean(network) && (every(placesIn(network, network.customers)).some((place) => place.at === which) || network.limits.some(({ at }) => at === which));
  return {
    shared_rate: (classes, of, ...operands) => {
      const network = read(classes, operands);
      return network && isOne(of, classes) ? between((one) => found(one).rates[of - 1], network) : NaN;
    },
    shared_time: (classes, of, which, ...operands) => {
      const network = read(classes, operands);
      return isOne(of, classes) && ofPlace(which, network) ? between((one) => found(one).times.get(which)[of - 1], network) : NaN;
    },
    shared_wait: (classes, which, ...operands) => {
      const network = read(classes, operands);
      return ofPlace(which, network) ? between((one) => found(one).openWaits.get(which) ?? NaN, network) : NaN;
    },
  };
}

// What a class has in a box: no more than it would have if it never met anybody (`engine/evaluators/multiclass_load_dependent_bounds.py`).
export const SHARED_BOUNDS = {
  shared_rate: bounded(2, (lows, highs, k, classes) => {
    const size = BEFORE + 2 * classes, groups = [];
    for (let at = 2 * classes; at < lows.length; at += size) groups.push(at);
    const places = groups.filter((at) => lows[at] !== LIMIT), shortest = places.reduce((sum, at) => sum + lows[at + BEFORE + k], lows[classes + k]);
    let most = shortest ? highs[k] / shortest : Infinity;
    for (const at of groups.slice(places.length)) if (lows[at + BEFORE + classes + k]) most = Math.min(most, highs[at + 1] / lows[at + BEFORE + classes + k]);
    for (const at of places) {
      const demand = lows[at + BEFORE + k], behind = at + size;
      if (demand && lows[at] === 0 && lows[behind] !== SPEED) most = Math.min(most, Math.max(highs[at + 3], 1) * Math.max(highs[at + 1] - lows[at + 2], 0) / demand);
    }
    return [0, most];
  }),
  shared_time: bounded(3, () => [0, Infinity]),
  shared_wait: bounded(2, () => [0, Infinity]),
};

function bounded(before, ends) {
  return atPointElse((value, lows, highs) => {
    const [classes, of] = lows, operands = lows.slice(before), most = highs.slice(before), size = BEFORE + 2 * classes;
    if (lows.some((low, k) => k < before && low !== highs[k]) || (ends.length && !isOne(of, classes))) return null;
    if (operands.some((low, k) => k >= 2 * classes && (k - 2 * classes) % size === 0 && low !== most[k])) return null;
    return networkOf(classes, operands) && networkOf(classes, most) ? widened(...ends(operands, most, of - 1, classes)) : null;
  });
}

function isOne(of, classes) { return Number.isInteger(of) && of >= 1 && of <= classes; }

// -- what is told ----------------------------------------------------------------------------------------------------------------------

function read(classes, operands) {
  const network = networkOf(classes, operands);
  if (!network || total(network.customers) <= MAX_PLACES) return network;
  return network.groups.some(({ kind, servers, copies }) => kind > 0 && servers * copies > MAX_PLACES) ? null : network;
}

function networkOf(classes, operands) {
  if (!(Number.isInteger(classes) && classes >= 1 && operands.length >= 2 * classes && operands.every(Number.isFinite))) return null;
  const rest = operands.slice(2 * classes), size = BEFORE + 2 * classes;
  if (rest.length % size || operands.some((one, k) => one < 0 && (k < 2 * classes || (k - 2 * classes) % size))) return null;
  const groups = [];
  for (let k = 0; k < rest.length; k += size) {
    const [kind, servers, load, copies, ...own] = rest.slice(k, k + size);
    groups.push({ kind, servers, load, copies, demand: own.slice(0, classes), weights: own.slice(classes) });
  }
  const places = groups.filter(({ kind }) => kind !== LIMIT), limits = limitsOf(places, groups.slice(places.length));
  const network = { customers: operands.slice(0, classes), think: operands.slice(classes, 2 * classes), groups: places, limits };
  return limits && placesIn(network, network.customers.map(() => 1)) ? network : null;
}

// The resources without a queue that groups behind all places describe.
function limitsOf(places, groups) {
  const found = [];
  for (const [k, { kind, servers, load, copies, demand, weights }] of groups.entries()) {
    if (kind !== LIMIT || (load !== 0 && !(places[load - 1]?.kind > 0)) || (copies !== 0 && copies !== 1) || !(servers > 0)) return null;
    if (copies) found.push({ at: places.length + k, capacity: servers, work: weights, visits: [] });
    if (!found.length) return null;
    found.at(-1).visits.push({ pool: load - 1, often: demand });
  }
  return found;
}

function visitsOf({ visits }, k) { return total(visits.map(({ often }) => often[k])); }

// The network without its limits, in which each visit of one waits so long there.
function blocked({ customers, think, groups, limits }, waits) {
  let paused = think;
  const longer = groups.slice();
  limits.forEach(({ visits }, r) => {
    for (const { pool, often } of visits) {
      if (pool < 0) paused = paused.map((pause, k) => pause + waits[r] * often[k]);
      else longer[pool] = { ...longer[pool], demand: longer[pool].demand.map((one, k) => one + waits[r] * often[k]) };
    }
  });
  const found = { customers, think: paused, groups: longer, limits: [] };
  groups.forEach((one, at) => {
    if (!(one.kind > 0)) return;
    const after = poolQueueAlone(found, at), parts = poolQueueAlone({ groups }, at).flatMap((before, k) => (after[k] > 0 ? [before / after[k]] : []));
    if (parts.length) longer[at] = { ...longer[at], load: one.load * dot(parts, parts) / parts.length };
  });
  return found;
}

// The places of one class whose cycles are those of all classes, in shares of all.
function placesIn(network, shares) {
  return placesOf(network.groups.flatMap((one, k) => [one.kind, dot(shares, one.demand), one.servers, one.kind > 0 ? variationOf(network, k, shares) : one.load, one.copies]));
}

// The square of the coefficient of variation of the time that a pool is held, alone.
function variationOf(network, pool, shares) {
  const { load, weights } = network.groups[pool], often = shares.map((share, k) => share * weights[k]);
  const each = poolQueueAlone(network, pool).map((time, k) => (weights[k] ? time / weights[k] : 0));
  const all = total(often), parts = all > 0 ? often.map((one) => one / all) : often; // of classes that hardly ever come, squares would be lost
  const mean = dot(parts, each);
  return mean > 0 ? (1 + load) * dot(parts, each.map((one) => one * one)) / mean ** 2 - 1 : load;
}

function poolQueueAlone({ groups }, pool) {
  const within = groups.slice(pool, pool + 1 + Math.max(groups[pool].kind, 0));
  return groups[pool].demand.map((_, k) => total(within.map(({ demand }) => demand[k])));
}

// A value on lines between whole numbers of servers, places and copies; of customers, parts of one are known as they are.
function between(value, network) {
  for (const [k, one] of network.groups.entries()) {
    const name = notWhole(one, network.groups[k + 1]?.kind === SPEED);
    if (!name) continue;
    return onLine(one[name], (n) => between(value, { ...network, groups: network.groups.with(k, { ...one, [name]: n }) }));
  }
  return value(network);
}

function notWhole({ kind, servers, copies }, hasSpeeds) {
  if (kind === SPEED) return null;
  if (!hasSpeeds && !Number.isInteger(servers)) return "servers";
  const isCounted = hasSpeeds || kind > 0 || kind === OWN || servers >= SEVERAL;
  return isCounted && copies >= 1 && !Number.isInteger(copies) ? "copies" : null;
}

// -- networks --------------------------------------------------------------------------------------------------------------------------

// Rates of classes; how long each is at each place, and what open visits wait at stations.
function solved(erlangC, stays, network) {
  const places = placesIn(network, network.customers.map(() => 1)), stuck = places.filter(neverEnds), own = places.filter((place) => !stuck.includes(place)).map((place) => place.at);
  const comes = (k, place) => every([place]).some(({ at }) => network.groups[at].demand[k] > 0 || (network.groups[at].kind > 0 && network.groups[at].weights[k] > 0));
  const never = network.customers.map((_, k) => stuck.some((place) => comes(k, place)));
  const found = fixedPoint(stays, { ...network, customers: network.customers.map((n, k) => (never[k] ? 0 : n)) }, own);
  for (const { at, within, speeds, servers, load } of every(stuck)) {
    found.times.set(at, never.map((one) => (one ? Infinity : 0)));
    if (!within && !speeds.length) found.openWaits.set(at, waitAlone(erlangC, servers, load));
  }
  return { ...found, rates: found.rates.map((rate, k) => (never[k] ? 0 : rate)) };
}

// What comes of a network in which all cycles end, of the places of such groups.
function fixedPoint(stays, network, own) {
  const { customers, think, limits } = network, count = customers.length, turning = new Linearizer(customers, think), steps = new FixedPointSteps();
  let cycles = think.map((pause, k) => pause + total(own.map((at) => poolQueueAlone(network, at)[k]))), each = [], there = [], moved = 1;
  const full = new FullResources(network, cycles);
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const here = limits.length ? blocked(network, full.waits) : network;
    each = staysAt(stays, here, own, ratesOf(here, cycles, FIRST_ONE));
    const wholes = each.map(({ whole }) => whole), point = [...logsOf(cycles), ...full.logs, ...turning.changes(wholes)];
    turning.think = here.think;
    there = turning.fixedPoint(wholes);
    const times = there.map((found, i) => wholes[i](found));
    cycles = here.think.map((pause, k) => times.reduce((sum, time) => sum + time[k], pause));
    full.fill(ratesOf(here, cycles, 0));
    const turned = turning.turn(wholes), image = [...logsOf(cycles), ...full.logs, ...turning.changes(wholes)], before = moved;
    moved = Math.max(turned, ...image.slice(0, count + limits.length).map((one, k) => Math.abs(one - point[k])));
    if (moved <= ENOUGH || (before <= moved && moved <= ROUNDED)) break;
    const after = steps.after(point, image);
    if (!after.every(Number.isFinite)) continue;
    cycles = cycles.map((one, k) => (one > 0 ? Math.exp(after[k]) : one));
    full.goOn(...[point, image, after].map((one) => one.slice(count, count + limits.length)));
    turning.changes(wholes, after.slice(count + limits.length));
  }
  const rates = ratesOf(network, cycles, 0), part = served(network, rates), times = new Map(), openWaits = new Map();
  each.forEach((one, i) => {
    for (const [at, time] of one.times) times.set(at, time(there[i]));
    for (const [at, wait] of one.waits) openWaits.set(at, wait(turning.held[i]));
  });
  limits.forEach((one, r) => times.set(one.at, customers.map((_, k) => full.waits[r] * visitsOf(one, k))));
  return { rates: rates.map((rate) => rate * part), times, openWaits };
}

// What visits wait at the resources without a queue of a network, while this is settled: if more is demanded, as if that and what takes
// time anyway, `unblocked`, took as many times longer.
class FullResources {
  constructor(network, cycles) {
    const { limits } = network;
    Object.assign(this, { limits, unblocked: limits.map((one) => unblockedTime(network, one, cycles)), waits: limits.map(() => 0) });
  }

  get logs() { return this.waits.map((wait, r) => Math.log(wait + this.unblocked[r])); }

  fill(rates) {
    this.waits = this.limits.map(({ work, capacity }, r) => {
      const load = rates.reduce((sum, rate, k) => (work[k] ? sum + rate * work[k] : sum), 0) / capacity;
      return Math.max((this.waits[r] + this.unblocked[r]) * load - this.unblocked[r], 0);
    });
  }

  // While they move much, as far as images at least: where more is demanded than can be served, they are longer.
  goOn(point, image, after) {
    this.waits = after.map((one, r) => {
      const moves = image[r] - point[r], low = moves > MUCH ? image[r] : image[r] - AHEAD, high = moves < -MUCH ? image[r] : image[r] + AHEAD;
      return Math.max(Math.exp(Math.min(Math.max(one, low), high)) - this.unblocked[r], 0);
    });
  }
}

function logsOf(cycles) { return cycles.map((one) => Math.log(one > 0 ? one : 1)); }

// What takes time anyway for each visit of a resource, of all classes in their parts: where it fills a pool, how long that is held.
function unblockedTime(network, limit, cycles) {
  const rates = ratesOf(network, cycles, FIRST_ONE);
  let time = 0, often = 0;
  rates.forEach((rate, k) => {
    const visits = visitsOf(limit, k);
    if (!limit.work[k] || !(visits > 0) || !(rate < Infinity)) return;
    const pools = new Set(limit.visits.filter(({ pool, often: each }) => pool >= 0 && each[k]).map(({ pool }) => pool));
    time += rate * (pools.size ? total([...pools].map((pool) => poolQueueAlone(network, pool)[k])) : cycles[k]);
    often += rate * visits;
  });
  return time > 0 ? time / often : 1;
}

function ratesOf({ customers }, cycles, least) {
  return cycles.map((cycle, k) => { const n = Math.max(customers[k], least); return cycle !== 0 ? n / cycle : n ? Infinity : 0; });
}

// What part of some rates stations serve: all, but for what an approximation is off.
function served({ groups }, rates) {
  let least = 1;
  groups.forEach(({ kind, demand, servers, load, copies }, k) => {
    if (kind > 0 || kind === SPEED || groups[k + 1]?.kind === SPEED) return;
    const work = rates.reduce((sum, rate, j) => (demand[j] ? sum + rate * demand[j] : sum), 0);
    if (work > 0) least = Math.min(least, copies * (servers - load) / work);
  });
  return least;
}

// How long classes stay at each place, of so many cycles of each.
function staysAt(stays, network, own, rates) {
  const whole = total(rates), shares = rates.map((rate) => rate / whole), count = total(network.customers), n = Math.ceil(count);
  const most = 2 ** (n ? Math.floor(Math.log2(n)) + 1 : 0);
  return placesIn(network, shares).filter(({ at }) => own.includes(at)).map((place) => stays(network, shares, place, Math.max(count - 1, 0), most));
}

function total(values) { return values.reduce((sum, value) => sum + value, 0); }

function dot(one, other) { return one.reduce((sum, value, k) => sum + value * other[k], 0); }
