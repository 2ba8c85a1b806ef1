// Numbers of queues with one server; the formulas and their sources stand in
// `engine/queueing/queue_numbers.py` and `engine/queueing/md1_numbers.py`. Times are counted in service times.

import { gammaParts, gammaShares, logGamma } from "../numerics/gamma.js";
import { periodicExcess, periodicShare } from "./periodic.js";
import { fallingRoot } from "../numerics/roots.js";

function isLevel(level) { return level >= 0 && level < 1; }

// A quantile by the share that is later; infinite from load 1 on.
function quantile(load, level, timeOf) {
  if (!isLevel(level) || !(load >= 0)) return NaN;
  return load >= 1 ? Infinity : timeOf(1 - level);
}

// -- N D/D/1 -----------------------------------------------------------------------------

// Flows that are no whole number count as the next one.
function wholeFlows(flows) { return Math.ceil(flows - 1e-9); }

export function periodicTail(flows, load, time) {
  if (!(load >= 0) || !(flows >= 0 && flows < Infinity) || Number.isNaN(time)) return NaN;
  if (load >= 1 || time < 0) return 1;
  const whole = wholeFlows(flows);
  return whole <= 1 || load === 0 || time >= whole - 1 ? 0 : Math.min(1, periodicShare(whole, load, time));
}

export function periodicQuantile(flows, load, level) {
  if (!(flows >= 0 && flows < Infinity)) return NaN;
  return quantile(load, level, (late) => {
    const whole = wholeFlows(flows);
    if (whole <= 1 || load * ((whole - 1) / whole) <= late) return 0; // no more visits wait at all
    const { excess, start } = periodicExcess(whole, load, level, logGrowth);
    return fallingRoot(excess, 0, whole - 1, start);
  });
}

// -- M/D/1 -------------------------------------------------------------------------------

const SUM_ENDS = 20, ARRIVALS = 44;

// P(W > t): who waits longer finds more than can be served by then, or finds fewer and is late all
// the same (Franx 2001, Operations Research Letters 29).
export function md1Tail(load, time) {
  if (!(load >= 0) || Number.isNaN(time)) return NaN;
  if (load >= 1 || time < 0) return 1;
  if (load === 0) return 0;
  if (time < SUM_ENDS) return md1Sums(load, time, md1Tables(load, Math.floor(time)))[0];
  const decay = logGrowth(load, 0);
  return ((1 - load) / (decay - (1 - load))) * Math.exp(-decay * time);
}

// P(more than n wait) and P(n wait), n up to `most`, times exp(load): what waits arrived in some rests of
// services, as many as a geometric law says (Feller 1971, volume 2, XII.5).
function md1Tables(load, most) {
  const come = [Math.exp(-load)], more = new Float64Array(ARRIVALS + 1), beyond = new Float64Array(ARRIVALS + 1);
  for (let k = 1; k < ARRIVALS; k++) come.push((come[k - 1] * load) / k);
  for (let k = ARRIVALS - 2; k >= 0; k--) {
    more[k] = more[k + 1] + come[k + 1]; // P(more than k arrive in a service)
    beyond[k] = beyond[k + 1] + more[k + 1];
  }
  const longer = [], equal = [];
  for (let n = 0; n <= most; n++) {
    let above = beyond[n], same = n ? 0 : 1 - load;
    for (let k = 1; k <= n; k++) {
      above += more[k] * longer[n - k];
      same += more[k] * equal[n - k];
    }
    longer.push(above / come[0]);
    equal.push(same / come[0]);
  }
  return { longer, equal };
}

// P(W > t) and the density there.
function md1Sums(load, time, { longer, equal }) {
  const whole = Math.floor(time), mean = load * (whole + 1 - time);
  let share = 0, density = 0, come = Math.exp(-mean);
  for (let j = 0; j <= whole; come *= mean / ++j) {
    share += come * longer[whole - j];
    density += come * equal[whole - j];
  }
  for (let j = whole + 1; come > share * 1e-18; come *= mean / ++j) share += come;
  return [share, load * density];
}

export function md1Quantile(load, level) { return quantile(load, level, (late) => (level <= 1 - load ? 0 : md1Wait(load, late))); }

export function batchQuantile(load, level) { return load === 0 && isLevel(level) ? level : quantile(load, level, (late) => md1Wait(load, load * late)); }

// The t with P(W > t) = late, for late below the load.
function md1Wait(load, late) {
  const spare = 1 - load, near = Math.log1p((load - late) / spare) / load; // (1 - load) e^(load t) up to t = 1
  if (near <= 1) return near;
  const decay = logGrowth(load, 0), far = Math.log(spare / (decay - spare) / late) / decay;
  if (far >= SUM_ENDS) return far;
  const tables = md1Tables(load, SUM_ENDS);
  return fallingRoot((time) => {
    const [share, density] = md1Sums(load, time, tables);
    return [Math.log(share / late), -density / share];
  }, 1, SUM_ENDS, Math.max(far, 1));
}

const GROWTH = [1 / 24, -1 / 2880, 1 / 181440, -1 / 9676800, 1 / 479001600, -691 / 15692092416000];

// y = log M(z) at the root z > 0 of load (M(z) - 1) = z: see `engine/queueing/fluid_decay_numbers.py`.
function logGrowth(load, variation) {
  const goal = -Math.log(load);
  let y = (2 * goal) / (1 + variation);
  for (let turn = 0; turn < 60; turn++) {
    const [value, slope] = growth(y), [less, lessSlope] = growth(variation * y);
    const step = (value + variation * y - less - goal) / (slope + variation * (1 - lessSlope));
    y -= step;
    if (!(Math.abs(step) > 1e-7 * y)) break;
  }
  return y;
}

// log((e^y - 1)/y) and its slope, to all digits where y is small.
function growth(y) {
  if (y >= 0.5) return [y + Math.log(-Math.expm1(-y) / y), -1 / Math.expm1(-y) - 1 / y];
  const square = y * y;
  const value = GROWTH.reduceRight((sum, one) => (sum + one) * square, 0);
  return [value + y / 2, GROWTH.reduceRight((sum, one, k) => sum * square + 2 * (k + 1) * one, 0) * y + 0.5];
}

// -- exponential and gamma laws --------------------------------------------------------------

export function sojournQuantile(waits, rate, level) {
  if (!isLevel(level) || Number.isNaN(waits)) return NaN;
  if (rate <= 0) return Infinity;
  if (!(waits >= 0 && waits <= 1 && rate > 0)) return NaN;
  if (level === 0) return 0;
  const goal = -Math.log1p(-level), slower = Math.min(1, rate);
  const late = waits * Math.min(goal / slower, 1 / Math.abs(rate - 1));
  const start = (goal + (rate < 1 ? Math.log(late) : Math.log1p(late))) / slower;
  const high = (2 * (goal + Math.log(4))) / slower; // by Chernoff's bound; at least the service
  return fallingRoot((time) => {
    const apart = Math.abs(rate - 1) * time, served = Math.exp(-time);
    const waited = waits * Math.exp(-slower * time) * (apart > 0 ? time * (-Math.expm1(-apart) / apart) : time);
    const density = (1 - waits) * served + (rate < Infinity ? rate * waited : waits * served);
    return [logShare(served + waited, -Math.expm1(-time) - waited) + goal, -density / (served + waited)];
  }, goal, high, Math.min(Math.max(start, goal), high));
}

// The logarithm of a share, to all digits where the other share is small.
function logShare(share, other) { return other < 0.5 ? Math.log1p(-other) : Math.log(share); }

const LEAST_VARIATION = 1e-6;

export function gammaQuantile(load, variation, level) {
  if (!(variation >= 0 && variation < Infinity)) return NaN;
  return quantile(load, level, () => {
    if (variation === 0) return 1 + md1Quantile(load, level);
    if (level === 0) return 0;
    if (load === 0) return gammaTime(1 / variation, level) * variation;
    const spread = Math.max(variation, LEAST_VARIATION), shape = 1 / spread;
    const grown = logGrowth(load, spread), tilt = Math.exp(-spread * grown), decay = -Math.expm1(-spread * grown) / spread;
    const goal = -Math.log1p(-level), high = (grown + goal) / decay; // by Chernoff's bound
    return fallingRoot((time) => {
      const late = Math.exp(grown - decay * time) * gammaShares(shape, shape * time * tilt)[1];
      const all = gammaShares(shape, shape * time)[0] + late;
      return [Math.log(all) + goal, (-decay * late) / all];
    }, 0, high, high);
  });
}

// The quantile of a gamma law: not below what is one where its density has no exponential.
function gammaTime(shape, level) {
  const goal = -Math.log1p(-level), low = Math.exp((Math.log(level) + logGamma(shape + 1)) / shape);
  const excess = (x) => {
    const [above, below] = gammaParts(shape, x), share = 1 / (1 + below / above);
    return [logShare(share, 1 / (1 + above / below)) + goal, -1 / (x * (above + below)) / share];
  };
  let high = Math.max(2 * low, shape);
  while (excess(high)[0] > 0) high *= 2;
  return fallingRoot(excess, low, high, Math.max(low, Math.min(shape, high)));
}
