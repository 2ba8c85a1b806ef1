// How long a cycle of one class takes at the stations of a closed network of several: quantiles; `engine/queueing_networks/multiclass_cycle_times.py`
// tells how. A station is visited so `often`, and `sensitivity_indices` or queues.

import { ofQueue, openFound, pairsOf } from "./cycle_time_quantiles.js";

const BESIDE = 2, STEP = 1e-2, MAX_COPIES = 4;

// `networkOf` reads operands, `found` solves a network, `onLines` tells what lies between whole numbers; the first bounds other values.
export function classQuantile({ networkOf, found, onLines, erlangC }, ofMoments) {
  return (classes, of, level, ...operands) => {
    const size = classes + 3 + BESIDE, first = 2 * classes;
    if (!(Number.isInteger(classes) && classes >= 1 && operands.length >= first) || (operands.length - first) % size) return NaN;
    const groups = Array.from({ length: (operands.length - first) / size }, (_, i) => operands.slice(first + i * size, first + (i + 1) * size));
    const visits = groups.map((one) => ({ often: one.at(-2), shares: one.at(-1) > 0 }));
    if (!groups.every((one) => one.slice(-BESIDE).every((number) => number >= 0 && number < Infinity))) return NaN;
    const network = networkOf(classes, [...operands.slice(0, first), ...groups.flatMap((one) => one.slice(0, -BESIDE))]);
    if (!network || !(Number.isInteger(of) && of >= 1 && of <= classes && level >= 0 && level < 1)) return NaN;
    return onLines((whole) => quantile(found, erlangC, ofMoments, level, of - 1, whole, visits), network);
  };
}

function quantile(found, erlangC, ofMoments, level, k, network, visits) {
  const there = network.places.flatMap((place, at) => (place.demand[k] && visits[at].often ? [{ place, at, ...visits[at] }] : []));
  if (level <= there.reduce((rest, { often }) => rest * Math.max(1 - often, 0), 1)) return 0;
  if (there.some(({ place: { load, servers } }) => load >= servers)) return Infinity;
  return ofMoments(level, ...moments(found, erlangC, k, network, there));
}

// Mean, deviation and skewness of the time of a class at all stations.
function moments(found, erlangC, k, network, there) {
  const whole = there.reduce((before, { place, at, often }) => apart(before, at, copiesOf(place, often)), network), { rates, waits } = found(whole);
  const queues = there.filter(({ shares }) => !shares);
  let [variance, third] = spread(found, k, whole, there), mean = 0;
  if (queues.length < there.length) [, third] = spread(found, k, whole, queues);
  for (const visit of there) {
    const { place, at, often, shares } = visit, { servers, load: open, copies } = place, demand = place.demand[k], wait = waits[at][k];
    const service = demand / often, stay = service * (1 + wait), [all, again, once] = foundAt(found, k, network, visit);
    const openly = service ** 2 * openFound(erlangC, place, wait), alike = alikeOf(often, copies) * openly;
    mean += often * stay;
    if (shares) {
      const busy = rates.reduce((sum, rate, j) => sum + (place.demand[j] ? rate * place.demand[j] : 0), 0), load = Math.min((busy / copies + open) / servers, 1);
      const own = often * stay ** 2 + (all + alike + often * (once + openly)) / (2 - load);
      variance += own - all + again;
      third += (2 * own ** 2) / (often * stay);
    } else {
      const [own, skewed] = ofQueue(erlangC, demand, service, place, wait, again + alike - often * openly);
      variance += own;
      third += skewed;
    }
    const part = often - Math.floor(often), either = part * (1 - part);
    variance += either * stay ** 2;
    third += either * (4 - 2 * part) * stay ** 3;
  }
  const deviation = Math.sqrt(variance), cubed = deviation ** 3;
  return [mean, deviation, cubed ? third / cubed : 0];
}

function alikeOf(often, copies) { return often + pairsOf(often) / copies; }

function copiesOf({ copies }, often) { return Math.max(1, Math.floor(Math.min(often, copies, MAX_COPIES))); }

// A network with so many copies of a place in its own, and all others behind.
function apart({ places, ...rest }, at, copies) {
  const place = places[at], part = copies / place.copies;
  if (copies >= place.copies) return { ...rest, places };
  const own = { ...place, copies, demand: place.demand.map((one) => part * one) };
  return { ...rest, places: [...places.with(at, own), { ...place, copies: place.copies - copies, demand: place.demand.map((one) => (1 - part) * one) }] };
}

function grown({ places, ...rest }, at, by) {
  const place = places[at], factor = Math.exp(by);
  return { ...rest, places: places.with(at, { ...place, demand: place.demand.map((one) => factor * one) }) };
}

// The variance of what is waited for those who are found, and what that adds to the third cumulant.
function spread(found, k, network, there) {
  const each = there.map(({ place, at }) => {
    const { copies, servers, load } = network.places[at];
    return place.demand[k] / copies / (servers - load);
  });
  const most = Math.max(0, ...each);
  if (!most) return [0, 0];
  const [less, mean, more] = [-STEP, 0, STEP].map((step) => {
    const { waits } = found(there.reduce((moved, { at }, i) => grown(moved, at, (step * each[i]) / most), network));
    const all = (by) => there.reduce((sum, { place, at, often }) => sum + by(place.demand[k], often * (place.servers - place.load)) * waits[at][k], 0);
    return [all((demand) => demand), all((demand, often) => demand ** 2 / often)];
  });
  const slope = most / (2 * STEP), bent = (more[0] + less[0] - 2 * mean[0]) * (most / STEP) ** 2;
  return [Math.max((more[0] - less[0]) * slope, 0), bent + 3 * Math.max((more[1] - less[1]) * slope, 0)];
}

// The variance of what is waited at a place, by how much it is more than of visits spread evenly over copies, and that of one visit.
function foundAt(found, k, network, { place, at, often, shares }) {
  const { copies } = place, evenly = copiesOf(place, often), square = often ** 2 / evenly, isWhole = Number.isInteger(often);
  const isEven = isWhole && (copies === 1 || often === 1);
  if (isEven && !shares) return [0, 0, 0];
  const split = apart(network, at, 1), spare = place.servers - place.load, [low, high] = [-STEP, STEP].map((step) => found(grown(split, at, step)).waits);
  const moved = (i) => (high[i][k] - low[i][k]) / (2 * STEP) / spare, own = Math.max(moved(at), 0), other = copies > 1 ? moved(high.length - 1) : 0;
  const alike = alikeOf(often, copies), rest = pairsOf(often) * (1 - 1 / copies), service = (place.demand[k] / often) ** 2;
  const more = (alike - square) * own + (rest - square * (evenly - 1)) * other;
  return [service * (alike * own + rest * other), isEven ? 0 : service * more, service * own];
}
