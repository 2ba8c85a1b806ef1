// The quantile of a sum of independent stages, by the inversion of its transform: `engine/stage_numbers.py` tells how.

import { fallingRoot } from "./roots.js";

const OPERANDS = 9, NARROW = 0.2, DISCOUNT = 18, TOWARDS = 0.9, NEAR = 1e-6, NEXT_TO = 1e-9, SMALL = 0.01, TERMS = 6, LONG = 300, TINY = 1e-300;
const out = new Float64Array(2); // both parts of the complex number that was found last

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
  if (every.some((stage) => stage.service === Infinity || (stage.isLate && stage.load >= 1))) return Infinity;
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
    found.push(stageOf({ waits: Math.min(waits, 1), load, work, spread, servers, service, variation, whole, share: Math.max(0, often - whole), inside: read(groups.slice(at + 1, end)) }));
  }
  return found;
}

// With what is asked of it again and again; `fixed` is what is always the same of the time that one passage takes.
function stageOf(stage) {
  const { waits, work, service, variation, whole, share, inside } = stage, isPassed = whole > 0 || share > 0;
  const fixed = isPassed ? inside.reduce((sum, one) => sum + fixedOf(one), variation ? 0 : service) : 0;
  return { ...stage, isPassed, isLate: waits > 0 && work > 0, isVaried: service > 0 && variation > 0, fixed };
}

function passed(line) { return line.filter(({ isPassed }) => isPassed).flatMap((stage) => [...(stage.service || stage.isLate ? [stage] : []), ...passed(stage.inside)]); }

function all(line) { return line.flatMap((stage) => [stage, ...all(stage.inside)]); }

// What is always the same of the time of a stage.
function fixedOf({ whole, fixed }) { return whole * fixed; }

// Which share takes no longer than that.
function atOnce(line) {
  return line.reduce((found, stage) => {
    const once = stage.isVaried ? 0 : atOnce(stage.inside) * (stage.isLate ? 1 - stage.waits : 1);
    return found * once ** stage.whole * (1 - stage.share + stage.share * (stage.fixed ? 0 : once));
  }, 1);
}

// The quantile of what is not always the same.
function beyond(line, every, level) {
  const goal = -Math.log1p(-level);
  let nearest = Math.min(...every.map(decay));
  if (nearest === Infinity) nearest = 1 / every.reduce((sum, { service, work }) => sum + service + work, 0);
  const hasShares = all(line).some(({ share }) => share > 0);
  const terms = every.some((stage) => (stage.isLate && stage.spread < NARROW) || (stage.variation > 0 && stage.variation < NARROW) || (hasShares && !stage.variation)) ? KINKED : SMOOTH;
  const left = Math.min(nearest / 2, LONG / (served(line) || TINY)); // where the transform is no power that is too long
  transform(line, -left, 0);
  const high = (Math.log(out[0]) + goal) / left; // by Chernoff's bound
  return fallingRoot((time) => {
    let gap = DISCOUNT / 2 - Math.min(TOWARDS * nearest * time, goal);
    if (Math.abs(gap) < 1) gap = 1; // not next to zero
    let longer = 0, density = 0;
    for (let k = 0; k < terms.length; k++) {
      const re = gap / time, im = (k * Math.PI) / time;
      transform(line, re, im);
      longer += (terms[k] * ((1 - out[0]) * re - out[1] * im)) / (re * re + im * im);
      density += terms[k] * out[0];
    }
    return longer > 0 ? [Math.log(longer / time) + gap + goal, -density / longer] : [-1, 0];
  }, 0, high, high, terms === SMOOTH ? NEAR : NEXT_TO);
}

// How long stages serve at most, without waits.
function served(line) { return line.reduce((sum, { whole, share, service, inside }) => sum + (whole + share) * (service + served(inside)), 0); }

// What the rate at which the tail of a stage falls is at least.
function decay(stage) {
  const { load, work, spread, servers, service, variation } = stage, own = variation * service > 0 ? 1 / (variation * service) : Infinity;
  return stage.isLate ? Math.min(own, ((1 - load) * (spread <= 1 ? 2 / (1 + spread) : 1 / spread) * servers) / work) : own;
}

// E exp(-s T) at s = re + i im, into `out`, where T is the time that stages take beyond what is always the same.
function transform(line, re, im) {
  let x = 1, y = 0;
  for (const stage of line) {
    if (!stage.isPassed) continue;
    let a = 1, b = 0, kept;
    if (stage.inside.length) {
      transform(stage.inside, re, im);
      a = out[0];
      b = out[1];
    }
    if (stage.isVaried) {
      less(re * stage.service, im * stage.service, stage.variation);
      kept = a + a * out[0] - b * out[1];
      b += a * out[1] + b * out[0];
      a = kept;
    }
    if (stage.isLate) {
      waitOf(stage, re, im);
      kept = a * out[0] - b * out[1];
      b = a * out[1] + b * out[0];
      a = kept;
    }
    if (stage.whole) {
      let rest = stage.whole, c = a, d = b;
      for (;;) {
        if (rest % 2) {
          kept = x * c - y * d;
          y = x * d + y * c;
          x = kept;
        }
        rest = Math.floor(rest / 2);
        if (!rest) break;
        kept = c * c - d * d;
        d *= 2 * c;
        c = kept;
      }
    }
    if (!stage.share) continue;
    if (stage.fixed) {
      const size = Math.exp(-re * stage.fixed), cosine = size * Math.cos(im * stage.fixed), sine = -size * Math.sin(im * stage.fixed);
      kept = a * cosine - b * sine;
      b = a * sine + b * cosine;
      a = kept;
    }
    a = 1 - stage.share + stage.share * a;
    b *= stage.share;
    kept = x * a - y * b;
    y = x * b + y * a;
    x = kept;
  }
  out[0] = x;
  out[1] = y;
}

// E exp(-s W) for the wait W of all, also of those who do not wait.
function waitOf({ waits, load, work, spread, servers }, re, im) {
  restOf((re * work) / servers, (im * work) / servers, spread);
  const spare = 1 - load, a = out[0], b = out[1];
  const above = spare * (1 - a), beside = -spare * b, below = spare + load * a, aside = load * b, size = below * below + aside * aside;
  out[0] = 1 - waits + (waits * (above * below + beside * aside)) / size;
  out[1] = (waits * (beside * below - above * aside)) / size;
}

// 1 - E exp(-z R) for what is left of a time of mean 1, to all digits.
function restOf(re, im, v) {
  const size = re * re + im * im;
  if (v !== 1 && Math.sqrt(size) * (1 + TERMS * v) < SMALL) {
    let a = 1, b = 0;
    for (let k = TERMS; k > 1; k--) {
      const by = -(1 + k * v) / (k + 1), next = 1 + by * (re * a - im * b);
      b = by * (re * b + im * a);
      a = next;
    }
    out[0] = ((re * a - im * b) * (1 + v)) / 2;
    out[1] = ((re * b + im * a) * (1 + v)) / 2;
    return;
  }
  less(re, im, v);
  const a = out[0], b = out[1];
  if (v === 1) {
    out[0] = -a;
    out[1] = -b;
  } else {
    out[0] = 1 + (a * re + b * im) / size;
    out[1] = (b * re - a * im) / size;
  }
}

// E exp(-z S) - 1 for a time S of mean 1, to all digits where z is small.
function less(re, im, v) {
  if (v === 1) {
    const size = (1 + re) * (1 + re) + im * im;
    out[0] = -(re * (1 + re) + im * im) / size;
    out[1] = -im / size;
    return;
  }
  const x = v * re, y = v * im;
  const a = v ? -Math.log1p(x * (2 + x) + y * y) / (2 * v) : -re, b = v ? -Math.atan2(y, 1 + x) / v : -im;
  const half = Math.sin(b / 2), longer = Math.expm1(a);
  out[0] = longer * (1 - 2 * half * half) - 2 * half * half;
  out[1] = (1 + longer) * 2 * half * Math.cos(b / 2);
}
