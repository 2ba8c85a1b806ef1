// How much longer the service of requests takes while machines are slower: as `solver/incidents/slowed_service.py` has it.

import { gammaShares } from "../../engine/numerics/gamma.js";
import { inForce } from "./course_steps.js";

const ROUNDING = 1e-9, DIGITS = 1e4;

// By the keys of requests: the time that service takes before, and the mean and variance of the longer one, taken for gamma distributed.
class SlowedService {
  constructor(parts) {
    this.parts = parts;
    this.known = new Map();
  }

  // Which part of the requests of a key is answered if so much time is left for what was not slower before.
  within(left, column) { return this.part(left + this.parts[column].usual, column); }

  // By how much the mean time of those that are answered is longer than before, of keys from one to another.
  longer(left, start, end) {
    let most = -Infinity;
    for (let column = start; column < end; column += 1) most = Math.max(most, this.mean(left + this.parts[column].usual, column));
    return most;
  }

  mean(time, column) {
    const { mean, variance, usual } = this.parts[column];
    if (variance <= 0 || time === Infinity) return Math.min(mean, time) - usual;
    const part = this.part(time, column), shape = (mean * mean) / variance;
    return part <= 0 ? 0 : (mean * below(shape + 1, (shape * time) / mean)) / part - usual;
  }

  part(time, column) {
    const { mean, variance } = this.parts[column];
    if (variance <= 0) return mean <= time + ROUNDING ? 1 : 0;
    const shape = (mean * mean) / variance, key = `${shape} ${mean} ${Math.round(time * DIGITS)}`;
    if (!this.known.has(key)) this.known.set(key, time === Infinity ? 1 : below(shape, (shape * Math.round(time * DIGITS)) / DIGITS / mean));
    return this.known.get(key);
  }
}

// How much of a gamma law lies below a value.
function below(shape, value) { return value > 0 ? gammaShares(shape, value)[1] : 0; }

const SLOWED = new WeakMap();

// How long service takes at a time; null if no machine is slower than before.
export function slowedService(system, layout, now) {
  const own = inForce(system.capacityChanges, now).filter((one) => one.isSlower && one.factor > 0);
  if (!own.length) return null;
  if (!SLOWED.has(layout)) SLOWED.set(layout, new Map());
  const known = SLOWED.get(layout), key = own.map((one) => system.capacityChanges.indexOf(one)).join(" ");
  if (!known.has(key)) known.set(key, new SlowedService(layout.keys.map((one) => partOf(system, one, own))));
  return known.get(key);
}

function partOf({ stations, streams }, key, changes) {
  const route = streams[key.stream].routes[key.route];
  const parts = [...route.visits.map(([place, work]) => [stations[place].node, work, stations[place].variation]), ...route.delays.map(([node, time]) => [node, time, 0])];
  let usual = 0, mean = 0, variance = 0;
  for (const [node, time, variation] of parts) {
    const here = changes.filter((one) => one.node === node);
    if (!here.length) continue;
    const longer = here.reduce((product, one) => product / one.factor, time);
    usual += time;
    mean += longer;
    variance += (variation * longer) ** 2;
  }
  return { usual, mean, variance };
}
