// The quantile of a sum of independent stages, by the inversion of its transform: `engine/stage_numbers.py` tells how.
// Complex numbers are pairs of their parts.

import { fallingRoot } from "./roots.js";

const OPERANDS = 9, NARROW = 0.2, DISCOUNT = 18, TOWARDS = 0.9, NEAR = 1e-6, NEXT_TO = 1e-9, SMALL = 0.01, TERMS = 6, LONG = 300, TINY = 1e-300;
const ONE = [1, 0];

const add = (a, b) => [a[0] + b[0], a[1] + b[1]];
const scale = (a, by) => [a[0] * by, a[1] * by];
const times = (a, b) => [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
const inverse = (a) => scale([a[0], -a[1]], 1 / (a[0] * a[0] + a[1] * a[1]));
const exponential = (a) => scale([Math.cos(a[1]), Math.sin(a[1])], Math.exp(a[0]));

// By what the terms of an alternating series count, the last ones averaged (Euler).
export function weights(plain, averaged) {
  const found = [0.5, ...Array(plain).fill(1)], count = [1];
  for (let j = 1; j <= averaged; j++) count.push((count[j - 1] * (averaged - j + 1)) / j);
  for (let k = 1; k <= averaged; k++) found.push(count.slice(k).reduce((sum, one) => sum + one) / 2 ** averaged);
  return found.map((size, k) => (k % 2 ? -size : size));
}

const SMOOTH = weights(16, 12), KINKED = weights(48, 12);

export function stagesQuantile(level, ...operands) {
  if (!(level >= 0 && level < 1) || !operands.length || operands.length % OPERANDS) return NaN;
  const groups = Array.from({ length: operands.length / OPERANDS }, (_, k) => operands.slice(k * OPERANDS, (k + 1) * OPERANDS));
  if (!groups.every(isStage)) return NaN;
  const line = read(groups), every = passed(line);
  if (every.some((stage) => stage.service === Infinity || (isLate(stage) && stage.load >= 1))) return Infinity;
  const fixed = line.reduce((sum, stage) => sum + fixedOf(stage), 0);
  return level <= atOnce(line) ? fixed : fixed + beyond(line, every, level);
}

const isSize = (value) => value >= 0 && value < Infinity;

function isStage([waits, load, work, spread, servers, service, variation, often, inside]) {
  return waits >= 0 && load >= 0 && [work, spread, variation, often].every(isSize) && servers > 0 && service >= 0 && inside >= 0;
}

// Stages one after the other, those inside others within these.
function read(groups) {
  const found = [];
  for (let at = 0, end; at < groups.length; at = end) {
    const [waits, load, work, spread, servers, service, variation, often, inside] = groups[at], near = Math.round(often);
    end = Math.min(groups.length, at + 1 + Math.floor(Math.min(inside, groups.length)));
    const whole = Math.abs(often - near) <= 1e-13 * near ? near : Math.floor(often);
    found.push({ waits: Math.min(waits, 1), load, work, spread, servers, service, variation, whole, share: Math.max(0, often - whole), inside: read(groups.slice(at + 1, end)) });
  }
  return found;
}

const isPassed = ({ whole, share }) => whole > 0 || share > 0;
const isLate = ({ waits, work }) => waits > 0 && work > 0;

function passed(line) { return line.filter(isPassed).flatMap((stage) => [...(stage.service || isLate(stage) ? [stage] : []), ...passed(stage.inside)]); }

function all(line) { return line.flatMap((stage) => [stage, ...all(stage.inside)]); }

// What is always the same of the time of a stage.
function fixedOf(stage) { return stage.whole * fixedOnce(stage); }

function fixedOnce(stage) {
  return isPassed(stage) ? stage.inside.reduce((sum, one) => sum + fixedOf(one), stage.variation ? 0 : stage.service) : 0;
}

// Which share takes no longer than that.
function atOnce(line) {
  return line.reduce((found, stage) => {
    const once = stage.service && stage.variation ? 0 : atOnce(stage.inside) * (isLate(stage) ? 1 - stage.waits : 1);
    return found * once ** stage.whole * (1 - stage.share + stage.share * (fixedOnce(stage) ? 0 : once));
  }, 1);
}

// The quantile of what is not always the same.
function beyond(line, every, level) {
  const goal = -Math.log1p(-level);
  let nearest = Math.min(...every.map(decay));
  if (nearest === Infinity) nearest = 1 / every.reduce((sum, { service, work }) => sum + service + work, 0);
  const hasShares = all(line).some(({ share }) => share > 0);
  const terms = every.some((stage) => (isLate(stage) && stage.spread < NARROW) || (stage.variation > 0 && stage.variation < NARROW) || (hasShares && !stage.variation)) ? KINKED : SMOOTH;
  const left = Math.min(nearest / 2, LONG / (served(line) || TINY)); // where the transform is no power that is too long
  const high = (Math.log(transform(line, [-left, 0])[0]) + goal) / left; // by Chernoff's bound
  return fallingRoot((time) => {
    let gap = DISCOUNT / 2 - Math.min(TOWARDS * nearest * time, goal);
    if (Math.abs(gap) < 1) gap = 1; // not next to zero
    let longer = 0, density = 0;
    terms.forEach((weight, k) => {
      const at = [gap / time, (k * Math.PI) / time], found = transform(line, at);
      longer += weight * times([1 - found[0], -found[1]], inverse(at))[0];
      density += weight * found[0];
    });
    return longer > 0 ? [Math.log(longer / time) + gap + goal, -density / longer] : [-1, 0];
  }, 0, high, high, terms === SMOOTH ? NEAR : NEXT_TO);
}

// How long stages serve at most, without waits.
function served(line) { return line.reduce((sum, { whole, share, service, inside }) => sum + (whole + share) * (service + served(inside)), 0); }

// What the rate at which the tail of a stage falls is at least.
function decay(stage) {
  const { load, work, spread, servers, service, variation } = stage, own = variation * service > 0 ? 1 / (variation * service) : Infinity;
  return isLate(stage) ? Math.min(own, ((1 - load) * (spread <= 1 ? 2 / (1 + spread) : 1 / spread) * servers) / work) : own;
}

// E exp(-s T), where T is the time that stages take beyond what is always the same.
function transform(line, at) {
  return line.filter(isPassed).reduce((found, stage) => {
    let once = transform(stage.inside, at);
    if (stage.service && stage.variation) once = times(once, add(ONE, less(scale(at, stage.service), stage.variation)));
    if (isLate(stage)) once = times(once, waitOf(stage, at));
    if (stage.whole) found = times(found, raised(once, stage.whole));
    if (!stage.share) return found;
    const late = times(once, exponential(scale(at, -fixedOnce(stage))));
    return times(found, add([1 - stage.share, 0], scale(late, stage.share)));
  }, ONE);
}

function raised(base, exponent) {
  let found = ONE;
  for (let rest = exponent, square = base; rest; rest = Math.floor(rest / 2), square = times(square, square)) if (rest % 2) found = times(found, square);
  return found;
}

// E exp(-s W) for the wait W of all, also of those who do not wait.
function waitOf({ waits, load, work, spread, servers }, at) {
  const rest = restOf(scale(at, work / servers), spread);
  const waited = times([(1 - load) * (1 - rest[0]), -(1 - load) * rest[1]], inverse(add([1 - load, 0], scale(rest, load))));
  return add([1 - waits, 0], scale(waited, waits));
}

// 1 - E exp(-z R) for what is left of a time of mean 1, to all digits.
function restOf(size, v) {
  if (v === 1) return scale(less(size, v), -1);
  if (Math.hypot(...size) * (1 + TERMS * v) < SMALL) {
    let found = ONE;
    for (let k = TERMS; k > 1; k--) found = add(ONE, times(scale(size, -(1 + k * v) / (k + 1)), found));
    return times(scale(size, (1 + v) / 2), found);
  }
  return add(ONE, times(less(size, v), inverse(size)));
}

// E exp(-z S) - 1 for a time S of mean 1, to all digits where z is small.
function less([re, im], variation) {
  if (variation === 1) return times([-re, -im], inverse([1 + re, im]));
  const x = variation * re, y = variation * im;
  const a = variation ? -Math.log1p(x * (2 + x) + y * y) / (2 * variation) : -re, b = variation ? -Math.atan2(y, 1 + x) / variation : -im;
  const half = Math.sin(b / 2);
  return [Math.expm1(a) * Math.cos(b) - 2 * half * half, Math.exp(a) * Math.sin(b)];
}
