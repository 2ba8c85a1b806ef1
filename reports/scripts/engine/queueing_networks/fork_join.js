// Closed networks with calls that are made together; `engine/queueing_networks/fork_join_mva.py` tells how, and `engine/queueing_networks/fork_join_operands.py` what they
// are told by: groups of six numbers, a kind first.

import { atPointElse } from "../numerics/bounds.js";
import { foundAndWaits } from "./linearizer.js";
import { memoized } from "../numerics/memo.js";
import { risingRoot } from "../numerics/roots.js";
import { NODES } from "../queueing/maximum.js";

const GROUP = 6, BRANCH = -1, OWN = -2, TURNS = 3, FEW = 5, OFF = 1 / 128;
const GROWING = [0, -1, 1, -1, 1, 0];

// `erlangC` is that of the numbers of queues, which know this module.
export function forkedNumbers(erlangC) {
  const solved = (customers, think, operands, places) => memoized(`forked ${customers} ${think} ${operands}`, () => solution(erlangC, customers, think, places));
  const ofPlace = (value) => (which, customers, think, ...operands) => {
    const places = read(customers, think, operands), own = places && every(places).find((one) => one.at === which);
    return own ? value(own, customers, think, operands, places) : NaN;
  };
  return {
    forked_rate: (customers, think, ...operands) => {
      const places = read(customers, think, operands);
      if (!places) return NaN;
      return customers === 0 || stationsOf(places).some(neverEnds) ? 0 : solved(customers, think, operands, places).rate;
    },
    forked_time: ofPlace((own, customers, think, operands, places) => {
      if (stationsOf([own]).some(neverEnds)) return Infinity;
      return solved(stationsOf(places).some(neverEnds) ? 0 : customers, think, operands, places).places.get(own.at);
    }),
    forked_wait: ofPlace((own, customers, think, operands, places) => {
      if (own.branches) return NaN;
      if (own.load >= own.servers) return Infinity;
      if (stationsOf(places).some(neverEnds)) return met(erlangC, own, 0, 0);
      const { rate, times } = solved(customers, think, operands, places);
      return met(erlangC, own, 0, rate < Infinity ? rate * times.get(own.at) / own.copies : 0);
    }),
  };
}

// Which rates, times and waits there are in a box (`engine/evaluators/fork_join_bounds.py`).
export const FORKED_BOUNDS = {
  forked_rate: bounded(2, (value, lows, highs) => {
    const by = (k) => (k < 2 ? 1 - 2 * k : GROWING[(k - 2) % GROUP]);
    const least = value(...lows.map((low, k) => (by(k) < 0 ? highs[k] : low))), most = value(...lows.map((low, k) => (by(k) < 0 ? low : highs[k])));
    return [least * (1 - OFF), most * (1 + OFF)];
  }),
  forked_time: bounded(3, () => [0, Infinity]),
  forked_wait: bounded(3, () => [0, Infinity]),
};

function bounded(before, ends) {
  return atPointElse((value, lows, highs) => {
    const isFixed = (k) => k < before ? before === 3 && k === 0 : [0, GROUP - 1].includes((k - before) % GROUP);
    if (lows.some((low, k) => (isFixed(k) ? low !== highs[k] : !(low >= 0 && highs[k] < Infinity)))) return null;
    return placesOf(lows.slice(before)) && placesOf(highs.slice(before)) ? ends(value, lows, highs) : null;
  });
}

// -- what is told ----------------------------------------------------------------------------------------------------------------------

function read(customers, think, operands) {
  if (!(customers >= 0 && customers < Infinity && think >= 0 && think < Infinity)) return null;
  return operands.some((one, k) => !Number.isFinite(one) || (k % GROUP && one < 0)) ? null : placesOf(operands);
}

function placesOf(operands) {
  if (operands.length % GROUP) return null;
  const groups = [];
  for (let k = 0; k < operands.length; k += GROUP) groups.push(operands.slice(k, k + GROUP));
  return placesIn(groups, 0, groups.length);
}

function placesIn(groups, first, end) {
  const found = [];
  for (let k = first; k < end;) {
    const [kind, demand, servers, load, copies, often] = groups[k];
    if (kind > 0) {
      const behind = k + 1 + kind, branches = Number.isInteger(kind) && behind <= end ? branchesIn(groups, k + 1, behind) : null;
      if (!branches) return null;
      found.push({ at: k, often, branches });
      k = behind;
      continue;
    }
    if (kind === OWN && (often > 0 || !demand)) {
      found.push({ at: k++, demand, servers: Infinity, load: 0, copies: 1, often });
      continue;
    }
    if (kind !== 0 || !(servers >= 1) || !(copies > 0) || (!(often > 0) && demand)) return null;
    found.push({ at: k, demand: demand / Math.min(copies, 1), servers, load, copies: Math.max(copies, 1), often }); // one that takes longer
    k++;
  }
  return found;
}

function branchesIn(groups, first, end) {
  const found = [];
  for (let k = first; k < end;) {
    if (groups[k][0] !== BRANCH) return null;
    let behind = k + 1;
    while (behind < end && groups[behind][0] !== BRANCH) {
      const [kind] = groups[behind];
      if (!Number.isInteger(kind)) return null;
      behind += 1 + Math.max(kind, 0);
    }
    const places = behind <= end ? placesIn(groups, k + 1, behind) : null;
    if (!places) return null;
    found.push({ delay: groups[k][1], often: groups[k][GROUP - 1], places });
    k = behind;
  }
  return found;
}

function every(places) { return places.flatMap((place) => [place, ...(place.branches ?? []).flatMap((branch) => every(branch.places))]); }

function stationsOf(places) { return every(places).filter((place) => !place.branches); }

function neverEnds({ demand, load, servers }) { return demand > 0 && load >= servers; }

// -- networks --------------------------------------------------------------------------------------------------------------------------

// So many customers who all end their cycles: their rate, what stations take of a cycle, and what each place does.
function solution(erlangC, customers, think, places) {
  const stations = stationsOf(places).filter(({ load, servers }) => load < servers);
  let change = new Map(stations.map(({ at }) => [at, 0])), found = null;
  for (let turn = 0; turn < TURNS; turn++) {
    found = fixedPoint(erlangC, customers, think, places, stations, change);
    if (turn === TURNS - 1 || customers <= 1 || found.rate === Infinity) break;
    const fewer = fixedPoint(erlangC, customers - 1, think, places, stations, change), { rate, times } = found;
    change = new Map(stations.map(({ at }) => [at, fewer.rate * fewer.times.get(at) / (customers - 1) - rate * times.get(at) / customers]));
  }
  return { ...found, places: new Map(every(places).map((place) => [place.at, stage(place, found.times).mean])) };
}

// The rate is where as many are in a cycle as there are.
function fixedPoint(erlangC, customers, think, places, stations, change) {
  const others = Math.max(customers - 1, 0);
  const timesAt = (rate) => new Map(stations.map((one) => {
    const slope = customers ? others * rate / customers / one.copies : 0;
    return [one.at, one.demand * (1 + met(erlangC, one, slope * one.demand, others * change.get(one.at) / one.copies))];
  }));
  const cycleAt = (rate) => { const times = timesAt(rate); return think + total(places.map((one) => stage(one, times).mean)); };
  const least = cycleAt(0);
  if (!customers || !least) return { rate: customers ? Infinity : 0, times: timesAt(0) };
  const left = (rate) => { const cycle = cycleAt(rate); return cycle ? rate - customers / cycle : -Infinity; };
  const rate = risingRoot(left, 0, customers / least);
  return { rate, times: timesAt(rate) };
}

// The wait w, in service times, of who finds as many as `slope` (1 + w) + `beside`.
function met(erlangC, { servers, load }, slope, beside) {
  if (servers === Infinity) return 0;
  if (servers === 1) {
    const spare = 1 - load - slope;
    return Math.max(spare > 0 ? (load + slope + beside) / spare : Infinity, load / (1 - load));
  }
  const { found, waits } = memoized(`found ${servers} ${load}`, () => foundAndWaits(erlangC, servers, load)), last = found.length - 1;
  const grows = (k) => (waits[k] - waits[k - 1]) / (found[k] - found[k - 1]);
  if (slope * grows(last) >= 1) return Infinity;
  let low = 0, high = found.length; // the first point at which no more are found than there are
  while (low < high) {
    const middle = (low + high) >> 1;
    if (found[middle] - slope * (1 + waits[middle]) - beside <= 0) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return waits[0];
  const steep = grows(Math.min(low, last));
  return (waits[low - 1] + steep * (slope + beside - found[low - 1])) / (1 - steep * slope);
}

// -- what is made together -------------------------------------------------------------------------------------------------------------

// What is spent at a place for each time that what is around it is passed, so often in a cycle.
function stage(place, times, around = 1) {
  if (!place.often || !around) return { mean: 0, variance: 0 };
  if (!place.branches) {
    const mean = (times.get(place.at) ?? 0) / place.often;
    return repeated({ mean, variance: mean * mean }, place.often / around);
  }
  const laws = place.branches.map((branch) => branchLaw(branch, times, place.often));
  const variances = laws.map(({ fixed, beyond, chance }) => chance * beyond * beyond + (chance < 1 ? chance * (1 - chance) * (fixed + beyond) ** 2 : 0));
  return repeated({ mean: slowestExponential(laws), variance: Math.max(0, ...variances) }, place.often / around);
}

function branchLaw({ delay, often, places }, times, around) {
  if (!often) return { fixed: 0, beyond: 0, chance: 0 };
  const stages = places.map((one) => stage(one, times, often)), chance = Math.min(often / around, 1);
  const own = { mean: delay / often + total(stages.map((one) => one.mean)), variance: total(stages.map((one) => one.variance)) };
  const { mean, variance } = repeated(own, often / around / chance), spread = Math.sqrt(variance);
  if (spread <= mean || spread === Infinity) return { fixed: mean - spread, beyond: spread, chance };
  const longer = (mean + variance / mean) / 2; // exponential, if there is anything
  return { fixed: 0, beyond: longer, chance: chance * mean / longer };
}

// What is done so often: the whole part always, and once more by the chance left.
function repeated({ mean, variance }, count) {
  const left = count % 1;
  return { mean: count * mean, variance: count * variance + (left ? left * (1 - left) * mean * mean : 0) };
}

// The mean of the largest of independent times: between two fixed times those that may still begin are constant.
function slowestExponential(laws) {
  if (laws.some(({ fixed, beyond }) => [fixed, beyond].includes(Infinity))) return Infinity;
  const ends = [...new Set([0, ...laws.map(({ fixed }) => Math.max(fixed, 0))])].sort((one, other) => one - other);
  return total(ends.map((begin, k) => {
    const begun = laws.filter(({ fixed }) => fixed <= begin), isLast = k + 1 === ends.length, end = ends[k + 1];
    const never = laws.reduce((product, { fixed, chance }) => (fixed > begin ? product * (1 - chance) : product), 1);
    const within = isLast ? 0 : (1 - never) * (end - begin);
    return within + (never ? never * (beyondTime(begun, begin) - (isLast ? 0 : beyondTime(begun, end))) : 0);
  }));
}

// The mean of what the largest is beyond a time at which all may have begun.
function beyondTime(laws, at) {
  const begun = laws.filter(({ beyond }) => beyond).map(({ fixed, beyond, chance }) => [chance * Math.exp((fixed - at) / beyond), beyond]);
  if (begun.length <= FEW) return ofSets(begun, 0, 1, 0, 0);
  const scale = Math.max(...begun.map(([, mean]) => mean));
  return scale * total(NODES.map(([node, weight]) => weight * (1 - begun.reduce((within, [share, mean]) => within * (1 - share * Math.exp(-scale * node / mean)), 1))));
}

// What all sets of times from one on add, by inclusion and exclusion.
function ofSets(begun, from, share, rate, count) {
  let sum = count ? (count % 2 ? share : -share) / rate : 0;
  for (let k = from; k < begun.length; k++) sum += ofSets(begun, k + 1, share * begun[k][0], rate + 1 / begun[k][1], count + 1);
  return sum;
}

function total(values) { return values.reduce((sum, one) => sum + one, 0); }
