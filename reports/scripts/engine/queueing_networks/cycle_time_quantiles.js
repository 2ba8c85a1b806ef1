// How long a cycle of a closed network takes at its stations: quantiles; `engine/queueing_networks/cycle_time_quantiles.py` tells how.
// Complex numbers are pairs of their parts, rows of them two arrays.

import { between, convolved, ofSeveral, poisson, powered, stationsOf } from "./product_form.js";
import { logGamma } from "../numerics/gamma.js";
import { memoized } from "../numerics/memo.js";
import { fallingRoot } from "../numerics/roots.js";
import { gapOf, weights } from "../queueing/sums.js";

const OPERANDS = 6, MAX_FOUND = 3000, MANY = 1000, DEEP = 12, MAX_PRODUCTS = 1 << 20, MAX_TERMS = 32, MAX_COPIES = 4, MAX_OF_ALL = 1 << 20, LEAST = 1e-30, NO_SKEW = 1e-6, STEP = 1e-3, SMALL = 1e-2, ROOT = 1e-3;
const TERMS = [[0.6, weights(16, 12)], [0.15, weights(48, 12)], [0, weights(96, 12)]];

// The quantile of a gamma law, moved by what its skewness says.
export function quantileOfMoments(normalQuantile) {
  return (level, mean, deviation, skewness) => {
    const away = normalQuantile(level), sixth = skewness / 6;
    const moved = Math.abs(sixth) > NO_SKEW ? (Math.max(1 + sixth * (away - sixth), 0) ** 3 - 1) / (3 * sixth) : away;
    return Math.max(mean + deviation * moved, 0);
  };
}

// `waits` are those of open visits at each station of a network.
export function closedQuantile(waits, ofMoments, erlangC) {
  const ofWhole = (level, found, think, places) => {
    if (level <= places.reduce((rest, { visits }) => rest * Math.max(1 - visits, 0), 1)) return 0;
    const law = memoized(`law ${found} ${think} ${JSON.stringify(places)}`, () => lawOf(waits, found, think, places));
    return (law && inverted(law, level, ofMoments)) ?? ofMoments(level, ...moments(waits, erlangC, found, think, places));
  };
  return (level, customers, think, ...operands) => {
    if (!(level >= 0 && level < 1) || operands.length % OPERANDS || !operands.every((one) => one >= 0 && one < Infinity)) return NaN;
    const groups = Array.from({ length: operands.length / OPERANDS }, (_, k) => operands.slice(k * OPERANDS, (k + 1) * OPERANDS));
    if (!stationsOf(customers, think, groups.flatMap((one) => one.slice(0, 4)))) return NaN;
    const withVisits = groups.filter(([demand, , , , often]) => demand > 0 && often > 0);
    return between((whole, pause, stations) => {
      if (!stations.length || level === 0) return 0;
      if (stations.some(([, servers, load]) => load >= servers)) return Infinity;
      const visited = stations.map(([demand, servers, load, all], k) => ({ demand, servers, load, all, visits: withVisits[k][4], shares: withVisits[k][5] > 0 }));
      return visitedWhole(visited).reduce((sum, [part, places]) => sum + part * ofWhole(level, Math.max(whole - 1, 0), pause, places), 0);
    }, customers, think, stationsOf(customers, think, withVisits.flatMap((one) => one.slice(0, 4))));
  };
}

// Of so many copies those that a cycle visits, alike: of pairs of visits as many are of one copy as at random.
function visitedOf({ all, visits }) { return Math.max(1, Math.min(visits ** 2 / (visits + pairsOf(visits) / all), all, MAX_COPIES)); }

// Places with whole numbers of copies that are visited, each with its part: the corners of a simplex around what is visited.
function visitedWhole(visits) {
  const each = visits.map(visitedOf), whole = each.map(Math.floor), found = [];
  const beyond = each.map((one, at) => [one - whole[at], at]).sort((one, other) => other[0] - one[0] || one[1] - other[1]);
  let before = 1;
  for (const [part, at] of [...beyond, [0, 0]]) {
    if (before > part) found.push([before - part, visits.map((one, k) => placeOf(one, whole[k]))]);
    whole[at] += 1;
    before = part;
  }
  return found;
}

function placeOf({ demand, servers, load, all, visits, shares }, copies) {
  const many = Math.max(all, copies);
  return { demand, servers, load, all: many, visits, shares, copies, often: visits / copies, service: demand / visits, ratio: demand / many / servers };
}

// What a visit waits at each place, in services; demands are so often as large.
function waitsAt(waits, found, think, places, grown) {
  const stations = places.flatMap(({ demand, servers, load, all, copies }, k) => {
    const own = demand / all, rest = all - copies;
    return [[grown[k] * own * copies, servers, load, copies], [own * rest, servers, load, rest || 1]];
  });
  return waits(found, think, stations).filter((_, k) => k % 2 === 0);
}

function meanOf(places, each) { return places.reduce((sum, { demand }, k) => sum + demand * (1 + each[k]), 0); }

// Mean, deviation and skewness of the time at all stations.
function moments(waits, erlangC, found, think, places) {
  const each = waitsAt(waits, found, think, places, places.map(() => 1)), mean = meanOf(places, each), rate = (found + 1) / (think + mean);
  let [variance, third] = spread(waits, found, think, places, (place) => !place.shares);
  places.forEach((place, k) => {
    const { demand, servers, load, all, visits, often, service, shares } = place, wait = each[k], part = Math.min(often, 1);
    const busy = Math.min(((rate * demand) / all + load) / servers, 1), own = demand * service;
    const open = openFound(erlangC, place, wait), again = (service ** 2 * open * pairsOf(visits)) / all, queued = ofQueue(erlangC, demand, service, place, wait, again);
    variance += shares ? own * (1 + wait) ** 2 + (2 * own * open + again) / (2 - busy) : queued[0];
    third += queued[1];
    variance += ((1 - part) / part) * (demand * (1 + wait)) ** 2;
    if (shares) variance += (spread(waits, found, think, places, (one) => one === place)[0] * (1 + 1 / visits)) / (2 - busy);
  });
  const deviation = Math.sqrt(variance), isQueued = places.every(({ shares }) => !shares);
  return [mean, deviation, isQueued ? third / deviation ** 3 : (2 * deviation) / mean];
}

// The mean number of ordered pairs of visits, so many a cycle.
export function pairsOf(visits) { return Math.floor(visits) * (2 * visits - Math.floor(visits) - 1); }

// The variance of what a visit waits for open traffic at a copy, in services, and that of whether it waits at all for it.
export function openFound(erlangC, { servers, load }, wait) {
  return waitsAtAll(erlangC(servers, load), servers - load) + (wait * load) / servers / (servers - load);
}

function waitsAtAll(chance, spare) { return (chance * (1 - chance)) / spare ** 2; }

// Variance and third cumulant of the time at a station where all wait in turn, `again` that of what visits wait for alike.
export function ofQueue(erlangC, demand, service, { servers, load }, wait, again) {
  const spare = servers - load, chance = erlangC(servers, load), first = waitsAtAll(chance, spare), own = demand * service;
  return [own * (1 + wait / spare + first) + again, 2 * own * service * (1 + wait / spare ** 2 + (first * (2 - chance)) / spare) + (3 * service * again) / spare];
}

// The variance of what is waited at some places for those who are found, and a third cumulant.
function spread(waits, found, think, places, isAmong) {
  const each = places.map((place) => (isAmong(place) ? place.demand / place.copies / (place.servers - place.load) : 0)), most = Math.max(...each);
  if (!most || !found) return [0, 0];
  const [less, mean, more] = [-STEP, 0, STEP].map((step) => {
    const stays = waitsAt(waits, found, think, places, each.map((one) => Math.exp((step * one) / most)));
    return places.reduce((sum, place, k) => (isAmong(place) ? sum + place.demand * stays[k] : sum), 0);
  });
  const variance = Math.max(((more - less) / (2 * STEP)) * most, 0), bent = (more + less - 2 * mean) * (most / STEP) ** 2;
  return [variance, bent + 3 * most * variance];
}

// The law by its transform: null where two moments tell it.
function lawOf(waits, found, think, places) {
  if (places.some(({ shares }) => shares)) return null;
  const mean = meanOf(places, waitsAt(waits, found, think, places, places.map(() => 1)));
  const unit = (found + 1) / (think + mean), away = Math.min(unit * think, found);
  const most = Math.min(found, Math.ceil(found - away + Math.min(8 * Math.sqrt(away), 30 * (1 + found - away))) + 40);
  const degree = 1 + Math.max(...places.map(({ servers }) => servers));
  if (found - away > Math.max(MANY, DEEP * Math.sqrt(away))) return null;
  if (most > MAX_FOUND || degree * most > MAX_PRODUCTS) return null;
  if (places.some(({ all, demand }) => all > MAX_OF_ALL || !(demand * unit > LEAST)) || !(mean > LEAST && mean < 1 / LEAST)) return null;
  let row = thinking(found, think * unit, most), chosen = [[]];
  for (const place of places) {
    if (place.all > place.copies) row = convolved(unvisited(place, unit, place.all - place.copies, most), row, most + 1);
    for (let copy = 0; copy < place.copies; copy++) {
      const options = optionsOf(place, unit, most);
      chosen = chosen.flatMap((before) => options.map((one) => [...before, one]));
      if (chosen.length > MAX_TERMS) return null;
    }
  }
  return { mean, unit, parts: chosen.map((options) => ({ options, row: options.reduce((before, { values }) => convolved(values, before, most + 1), row) })) };
}

function thinking(found, mean, most) {
  if (mean === 0) return [1, ...Array(most).fill(0)];
  return scaled(Array.from({ length: most + 1 }, (_, k) => (found - most + k) * Math.log(mean) - logGamma(found - most + k + 1)));
}

function scaled(logs) {
  const largest = logs.reduce((one, other) => Math.max(one, other));
  return logs.map((one) => Math.exp(one - largest));
}

function unvisited({ demand, servers, load, all }, unit, copies, most) {
  const ratio = ((demand / all) * unit) / (servers - load);
  let row = scaled(Array.from({ length: most + 1 }, (_, k) => logGamma(copies + k) - logGamma(copies) - logGamma(k + 1) + k * Math.log(ratio)));
  if (servers > 1) {
    const own = ofSeveral([demand / all, servers, load, 1], unit).weights;
    row = convolved(powered(own, Math.floor(copies), most + 1), row, most + 1);
  }
  return row;
}

// Of what the weights of a copy are made that is visited.
function optionsOf(place, unit, most) {
  const { often, servers, load, ratio } = place, share = Math.min(often, 1);
  if (servers === 1) {
    const found = [{ place, values: [1], share, queues: true }], own = (ratio * unit) / (1 - load);
    if (share < 1) found.push({ place, values: Array.from({ length: most + 1 }, (_, k) => ((1 - share) * own ** k) / (1 - load)), share: 0 });
    return found;
  }
  const closed = poisson(ratio * servers * unit, servers + 1), held = poisson(load, servers + 1), below = [];
  for (const one of held) below.push((below.at(-1) ?? 0) + one);
  const free = closed.slice(0, servers).map((one, k) => one * below[servers - 1 - k]), full = closed.map((one, k) => one * held[servers - k]);
  const found = [{ place, values: free, share, queues: false }, { place, values: full, share, queues: true }];
  if (share < 1) {
    const spare = 1 - load / servers, options = [];
    for (let k = 0, queued = 0; k <= Math.max(most, servers); k++) {
      queued = (full[k] ?? 0) + ((ratio * unit) / spare) * queued;
      options.push((1 - share) * (queued / spare + (free[k] ?? 0)));
    }
    found.push({ place, values: options, share: 0 });
  }
  return found;
}

// Null where the series has no root; within Cantelli's bounds.
function inverted(law, level, ofMoments) {
  const { mean } = law, [whole] = weightOf(law, [0, 0]), nearest = nearestOf(law), step = Math.min(STEP / mean, SMALL * nearest);
  const [more, less] = [step, -step].map((at) => Math.log(weightOf(law, [at, 0])[0] / whole));
  const deviation = Math.sqrt(Math.max(more + less, 0)) / step, goal = -Math.log1p(-level);
  const [, terms] = TERMS.find(([least]) => deviation >= least * mean);
  const most = mean + deviation * Math.sqrt(level / (1 - level)), least = Math.max(mean - deviation * Math.sqrt((1 - level) / level), 0);
  const near = ofMoments(level, mean, deviation, (2 * deviation) / mean);
  let off = Infinity;
  const found = fallingRoot((time) => {
    if (time <= 0) return [Infinity, 0];
    const gap = gapOf(nearest, goal, time);
    let longer = 0, density = 0;
    terms.forEach((weight, k) => {
      const at = [gap / time, (k * Math.PI) / time], [re, im] = weightOf(law, at), size = at[0] * at[0] + at[1] * at[1];
      longer += (weight * ((1 - re / whole) * at[0] - (im / whole) * at[1])) / size;
      density += (weight * re) / whole;
    });
    if (!(longer > 0)) return [-1, 0];
    const value = Math.log(longer / time) + gap + goal;
    off = Math.min(off, Math.abs(value));
    return [value, -density / longer];
  }, least, most, Math.min(Math.max(near, least, STEP * mean), most));
  return off <= ROOT ? found : null;
}

// How far left of zero the nearest singularity is.
function nearestOf({ parts }) {
  const all = parts.flatMap(({ options }) => options.filter(({ share }) => share).map(({ place }) => {
    const rate = 1 / place.service, often = Math.max(place.often, 1);
    return Math.min(rate, place.servers * rate * (1 - (place.load / place.servers) ** (1 / often)));
  }));
  return Math.min(...all);
}

// The weight of all states, each with the transform of the stays in it.
function weightOf({ parts, unit }, at) {
  const found = [0, 0];
  for (const { row, options } of parts) {
    let factor = [1, 0], re = row, im = null;
    for (const option of options) {
      if (!option.share) continue;
      const [own, ratio] = transformed(option, at, unit);
      factor = times(factor, own);
      if (option.queues) [re, im] = geometric(re, im, ratio);
    }
    const all = times(factor, [re.at(-1), im ? im.at(-1) : 0]);
    found[0] += all[0];
    found[1] += all[1];
  }
  return found;
}

function geometric(re, im, [x, y]) {
  const reals = new Float64Array(re.length), others = new Float64Array(re.length);
  for (let k = 0, a = 0, b = 0; k < re.length; k++) {
    [a, b] = [re[k] + x * a - y * b, (im ? im[k] : 0) + x * b + y * a];
    reals[k] = a;
    others[k] = b;
  }
  return [reals, others];
}

function transformed({ place, share, queues }, at, unit) {
  const power = -Math.max(place.often, 1), size = [at[0] * place.service, at[1] * place.service];
  let served = raised([1 + size[0], size[1]], power);
  if (!queues) return [[share * served[0], share * served[1]], [0, 0]];
  let faster = served;
  if (place.servers > 1) {
    faster = raised([1 + size[0] / place.servers, size[1] / place.servers], power);
    served = times(served, faster);
  }
  const part = place.load / place.servers, [x, y] = [1 - part * faster[0], -part * faster[1]], square = x * x + y * y, over = [x / square, -y / square];
  const own = times(served, over), ratio = times(faster, over), each = place.ratio * unit;
  return [[share * own[0], share * own[1]], [each * ratio[0], each * ratio[1]]];
}

function times(a, b) { return [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]; }

function raised([x, y], power) {
  const size = Math.hypot(x, y) ** power, angle = power * Math.atan2(y, x);
  return [size * Math.cos(angle), size * Math.sin(angle)];
}
