// Numbers of queues, as compiler/queue_numbers.py has them, where the formulas stand with their sources.

import { Undecided } from "./search.js";

// Each function by its name in the program, with as many parts as it has.
export const QUEUE_FUNCTIONS = {
  harmonic: (count) => harmonic(count),
  erlang_b: (servers, traffic) => 1 / inverseErlangB(servers, traffic),
  erlang_c: (servers, traffic) => erlangC(servers, traffic),
  periodic_wait: (flows, load) => periodicWait(flows, load),
  md1_tail: (load, time) => md1Tail(load, time),
  md1_quantile: (load, level) => md1Quantile(load, level),
  batch_quantile: (load, level) => batchQuantile(load, level),
  periodic_tail: (flows, load, time) => periodicTail(flows, load, time),
  periodic_quantile: (flows, load, level) => periodicQuantile(flows, load, level),
  sojourn_quantile: (waits, rate, level) => sojournQuantile(waits, rate, level),
  gamma_quantile: (load, variation, level) => gammaQuantile(load, variation, level),
  normal_tail: (distance) => normalTail(distance),
  normal_quantile: (level) => normalQuantile(level),
};

// Whether each grows (1) or falls (-1) with each of its parts; 0 where it may do both.
export const GROWS = {
  harmonic: [1], erlang_b: [-1, 1], erlang_c: [-1, 1], periodic_wait: [1, 1], md1_tail: [1, -1], md1_quantile: [1, 1],
  batch_quantile: [1, 1],
  periodic_tail: [1, 1, -1], periodic_quantile: [1, 1, 1], sojourn_quantile: [1, -1, 1], gamma_quantile: [1, 0, 1],
  normal_tail: [-1], normal_quantile: [1],
};

// What waits over what is left of a capacity; without end where nothing is left.
export function waiting(work, load) {
  if (Number.isNaN(work) || Number.isNaN(load)) return NaN;
  return load >= 1 ? Infinity : work / (1 - load);
}

// 1/B of Erlang's formula, by its sum; between whole servers by the incomplete gamma function.
function inverseErlangB(servers, traffic) {
  if (!(servers >= 0) || !(traffic >= 0)) return NaN;
  if (traffic === 0) return servers > 0 ? Infinity : 1;
  const count = Math.floor(servers);
  let total = 0, term = 1;
  for (let k = 0; k < count; k++) {
    total += term;
    term *= (servers - k) / traffic;
    if (term < total * 1e-18 && servers - k < traffic) return total;
  }
  return total + term * betweenServers(servers - count, traffic);
}

// 1/B for a part of a server: Gamma(part + 1, traffic) exp(traffic) / traffic^part.
function betweenServers(part, traffic) {
  if (part === 0) return 1;
  return traffic < 2 ? bySeries(part, traffic) : traffic * upperGamma(part + 1, traffic);
}

// Gamma less the lower incomplete gamma function, by the series of that (DLMF 8.7.1).
function bySeries(part, traffic) {
  let term = traffic / (part + 1), below = term;
  for (let k = 2; term > below * 1e-18; k++) below += term *= traffic / (part + k);
  return gamma(part + 1) * Math.exp(traffic) / Math.pow(traffic, part) - below;
}

// Gamma(shape, x) exp(x) / x^shape, by its continued fraction (DLMF 8.9.2) in Lentz's way.
function upperGamma(shape, x) {
  let b = x + 1 - shape, c = Infinity, d = 1 / b, found = d;
  for (let k = 1; k < 100000; k++) {
    const a = -k * (k - shape);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    found *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return found;
}

// Gamma from 1 to 2, by the series of its reciprocal (Abramowitz and Stegun 6.1.34).
const RECIPROCAL_GAMMA = [
  1, 0.5772156649015329, -0.6558780715202538, -0.0420026350340952, 0.1665386113822915,
  -0.0421977345555443, -0.0096219715278770, 0.0072189432466630, -0.0011651675918591,
  -0.0002152416741149, 0.0001280502823882, -0.0000201348547807, -0.0000012504934821,
  0.0000011330272320, -0.0000002056338417, 0.0000000061160950, 0.0000000050020075,
  -0.0000000011812746, 0.0000000001043427, 0.0000000000077823, -0.0000000000036968,
  0.0000000000005100, -0.0000000000000206, -0.0000000000000054, 0.0000000000000014,
];

function gamma(x) {
  const part = x - 1; // Gamma(1 + part) = part Gamma(part), and 1/Gamma(part) is the series
  return 1 / RECIPROCAL_GAMMA.reduceRight((sum, one) => sum * part + one, 0);
}

function erlangC(servers, traffic) {
  if (servers <= 0 || traffic < 0) return NaN;
  if (traffic >= servers) return 1;
  const inverse = inverseErlangB(servers, traffic);
  return inverse === Infinity ? 0 : 1 / (inverse - (traffic / servers) * (inverse - 1));
}

// The mean wait of N D/D/1 in service times: what an arrival finds of N - 1 periodic flows.
function periodicWait(flows, load) {
  if (!(load >= 0)) return NaN;
  if (load >= 1) return Infinity;
  if (flows <= 1 || load === 0) return 0;
  return (inverseErlangB(flows - 1, flows / load) - 1) / 2;
}

// -- M/D/1 -------------------------------------------------------------------------------

const SERIES_ENDS = 20;
// P(W > t) by sums of positive terms: who waits longer finds more than can be served by then, or
// finds fewer and is late all the same (Franx 2001, Operations Research Letters 29).
function md1Tail(load, time) {
  if (!(load >= 0) || Number.isNaN(time)) return NaN;
  if (load >= 1 || time < 0) return 1;
  if (load === 0) return 0;
  if (time >= SERIES_ENDS) {
    const decay = md1Decay(load);
    return ((1 - load) / (load + decay - 1)) * Math.exp(-decay * time);
  }
  const slots = Math.floor(time) + 1, part = load * (slots - time);
  const more = moreThan(load, slots);
  let total = 0, term = Math.exp(-part);
  for (let j = 0; j < slots + MANY; j++) {
    total += term * (j < slots ? more[slots - 1 - j] : 1);
    term *= part / (j + 1);
  }
  return total;
}

const MANY = 40; // arrivals in a service time, beyond which it never has more

// P(more than n wait in M/D/1) for n below `count`: what waits arrived in some rests of services, as
// many as a geometric law says (Feller 1971, volume 2, XII.5), which gives one from those before.
function moreThan(load, count) {
  const arrived = [], beyond = []; // P(more than k arrive in a service), and the sum of these behind k
  const far = count + MANY;
  let one = Math.exp(far * Math.log(load) - load - logFactorial(far)), above = 0, sum = 0;
  for (let k = far - 1; k >= 0; k--) {
    beyond[k] = sum;
    sum += arrived[k] = above += one;
    one *= (k + 1) / load;
  }
  const found = [];
  for (let n = 0; n < count; n++) {
    let rest = beyond[n];
    for (let k = 1; k <= n; k++) rest += arrived[k] * found[n - k];
    found.push(rest * Math.exp(load));
  }
  return found;
}

// The root x > 0 of load (e^x - 1) = x: the tail falls like e^(-x t).
function md1Decay(load) {
  return rootOf((x) => x - load * Math.expm1(x), 1 - load, Math.max(4, 4 - 2 * Math.log(load)));
}

function md1Quantile(load, level) {
  if (!(level >= 0 && level < 1) || !(load >= 0)) return NaN;
  if (load >= 1) return Infinity;
  if (level <= 1 - load) return 0;
  const decay = md1Decay(load);
  const far = Math.log((1 - load) / (load + decay - 1) / (1 - level)) / decay;
  return far >= SERIES_ENDS ? far : rootOf((t) => md1Tail(load, t) - (1 - level), 0, SERIES_ENDS);
}

// The wait in a batch: what M/D/1 waits where it does wait, P(W <= t) = (1 - load) e^(load t) up to t = 1.
function batchQuantile(load, level) {
  if (!(level >= 0 && level < 1) || !(load >= 0)) return NaN;
  if (load >= 1) return Infinity;
  if (load === 0) return level;
  const late = load * (1 - level), near = (Math.log1p(-late) - Math.log1p(-load)) / load;
  return near <= 1 ? near : md1Quantile(load, Math.min(1 - late, 1 - Number.EPSILON / 2));
}

// -- N D/D/1 -----------------------------------------------------------------------------

// P(V > x) of so many flows: a sum of positive terms.
function unfinishedTail(flows, period, work) {
  if (work >= flows) return 0;
  const spare = period - flows + work;
  let total = 0;
  for (let n = Math.floor(work) + 1; n <= flows; n++) {
    const share = Math.min((n - work) / period, 1);
    const rest = n === flows ? 0 : (flows - n) * Math.log1p(-share);
    const chosen = logFactorial(flows) - logFactorial(n) - logFactorial(flows - n);
    const term = (Math.exp(chosen + n * Math.log(share) + rest) * spare) / (period - n + work);
    if (term === term) total += term;
  }
  return Math.min(1, total);
}

function periodicTail(flows, load, time) {
  if (!(load >= 0) || !(flows >= 0) || Number.isNaN(time)) return NaN;
  if (load >= 1 || time < 0) return 1;
  const count = Math.ceil(flows - 1e-9);
  return count <= 1 || load === 0 ? 0 : unfinishedTail(count - 1, count / load, time);
}

function periodicQuantile(flows, load, level) {
  if (!(level >= 0 && level < 1) || !(load >= 0) || !(flows >= 0)) return NaN;
  if (load >= 1) return Infinity;
  return quantileOf((time) => periodicTail(flows, load, time), level);
}

// -- exponential, gamma and normal laws ----------------------------------------------------

function sojournQuantile(waits, rate, level) {
  if (!(level >= 0 && level < 1) || Number.isNaN(rate)) return NaN;
  if (rate <= 0) return Infinity;
  if (!(waits >= 0 && waits <= 1)) return NaN;
  const slower = Math.min(1, rate);
  return quantileOf((t) => {
    const apart = Math.abs(rate - 1) * t;
    const mixed = apart < 1e-12 ? t : (t * -Math.expm1(-apart)) / apart;
    return Math.exp(-t) + waits * Math.exp(-slower * t) * mixed;
  }, level);
}

const LEAST_VARIATION = 1e-6;

function gammaQuantile(load, variation, level) {
  if (!(level >= 0 && level < 1) || !(load >= 0) || !(variation >= 0)) return NaN;
  if (load >= 1) return Infinity;
  if (variation === 0) return 1 + md1Quantile(load, level);
  if (load === 0) return quantileOf((t) => gammaTail(1 / variation, t / variation), level);
  const spread = Math.max(variation, LEAST_VARIATION), shape = 1 / spread;
  const decay = gammaDecay(load, spread), served = 1 + decay / load;
  const tilted = Math.pow(served, -spread) / spread;
  return quantileOf((t) => {
    const waited = Math.exp(Math.min(600, Math.log(served) - decay * t)) * (1 - gammaTail(shape, tilted * t));
    return gammaTail(shape, t / spread) + waited;
  }, level);
}

// The root z of load (M(z) - 1) = z for gamma service of mean 1, with 1 - v z = exp(-w).
function gammaDecay(load, variation) {
  const drift = (w) => load * Math.expm1(Math.min(600, w / variation)) + Math.expm1(-w) / variation;
  let low = ((1 - load) * variation) / (load + variation);
  while (drift(low) > 0) low /= 2;
  let high = 2 * low;
  while (drift(high) < 0) high *= 2;
  return -Math.expm1(-rootOf((w) => -drift(w), low, high)) / variation;
}

const LARGEST_SHAPE = 1e4;

// The share of a gamma law of a shape above a value: by the series below its middle, by the
// continued fraction beyond (Press and others 2007, Numerical Recipes, section 6.2).
function gammaTail(shape, x) {
  if (shape > LARGEST_SHAPE) throw new Undecided(); // floats lose too many digits
  if (!(x > 0)) return 1;
  if (x === Infinity) return 0;
  const front = Math.exp(shape * Math.log(x) - x - logGamma(shape));
  if (x < shape + 1) {
    let term = 1 / shape, sum = term;
    for (let k = 1; term > sum * 1e-17; k++) sum += term *= x / (shape + k);
    return 1 - front * sum;
  }
  return front * upperGamma(shape, x);
}

function normalTail(distance) {
  if (Number.isNaN(distance)) return NaN;
  const beyond = gammaTail(0.5, (distance * distance) / 2) / 2;
  return distance >= 0 ? beyond : 1 - beyond;
}

function normalQuantile(level) {
  if (!(level > 0 && level < 1)) return NaN;
  return level < 0.5 ? -normalQuantile(1 - level) : rootOf((d) => normalTail(d) - (1 - level), 0, 40);
}

// -- helpers -----------------------------------------------------------------------------

// 1 + 1/2 + ... + 1/n, between whole numbers by the digamma function (Abramowitz and Stegun 6.3.18).
function harmonic(count) {
  if (!(count > -1)) return NaN;
  let x = count + 1, below = 0;
  for (; x < 12; x++) below += 1 / x;
  const y = 1 / (x * x);
  const series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - (y * 691) / 32760)))));
  return Math.log(x) - 0.5 / x - series - below + 0.5772156649015329;
}

// The logarithm of gamma, by Stirling's series from 12 on (Abramowitz and Stegun 6.1.41).
function logGamma(x) {
  let product = 1;
  for (; x < 12; x++) product *= x;
  const y = 1 / (x * x);
  const series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - (y * 691) / 360360))))) / x;
  return (x - 0.5) * Math.log(x) - x + 0.9189385332046727 + series - Math.log(product);
}

function logFactorial(n) { return logGamma(n + 1); }

// Where a tail falls to what a level leaves.
function quantileOf(tail, level) {
  const excess = (t) => tail(t) - (1 - level);
  let high = 1;
  while (excess(high) > 0) high *= 2;
  return rootOf(excess, 0, high);
}

// Where a function that falls passes zero, by Ridders' method (IEEE Trans. Circuits Syst. 26, 1979).
function rootOf(f, low, high) {
  let above = f(low), below = f(high);
  if (above <= 0) return low;
  if (below >= 0) return high;
  for (let turn = 0; turn < 100 && high - low > 1e-15 * high; turn++) {
    const middle = (low + high) / 2, value = f(middle);
    if (value === 0) return middle;
    const next = middle + ((middle - low) * value) / Math.sqrt(value * value - above * below);
    const there = f(next);
    if (there === 0 || next === low || next === high) return next;
    for (const [at, found] of middle < next ? [[middle, value], [next, there]] : [[next, there], [middle, value]]) {
      if (found > 0) { low = at; above = found; } else if (at < high) { high = at; below = found; break; }
    }
  }
  return (low + high) / 2;
}
