// The quantile and the tail of a sum of independent stages, by the inversion of its transform: `engine/distributions/sum_numbers.py` tells how.

import { fallingRoot } from "../numerics/roots.js";
import { mixtures, SAME } from "./sum_paths.js";

// What stands inside a stage and has 0 servers is a part of the work that it waits for: `beside` has them, as `engine/distributions/stages.py` tells.
const OPERANDS = 9, NARROW = 0.2, NEAR = 1e-6, NEXT_TO = 1e-9, SMALL = 0.01, TERMS = 6, DISCOUNT = 18, TOWARDS = 0.9;
export const LONG = 300;
export const TINY = 1e-300;
const out = new Float64Array(2); // both parts of the complex number that was found last

// By what the terms of an alternating series count, the last ones averaged (Euler).
export function weights(plain, averaged) {
  const found = [0.5, ...Array(plain).fill(1)], count = [1];
  for (let j = 1; j <= averaged; j++) count.push((count[j - 1] * (averaged - j + 1)) / j);
  for (let k = 1; k <= averaged; k++) found.push(count.slice(k).reduce((sum, one) => sum + one) / 2 ** averaged);
  return found.map((size, k) => (k % 2 ? -size : size));
}

const SMOOTH = weights(16, 12);
export const KINKED = weights(48, 12);

export function stagesQuantile(level, ...operands) {
  const line = level >= 0 && level < 1 ? lineOf(operands) : null;
  if (!line) return NaN;
  if (isEndless(line)) return Infinity;
  const paths = mixtures(line);
  return paths ? placed(paths, level) : NaN;
}

// Which share takes longer than a time: `engine/distributions/sum_tails.py` tells how.
export function stagesTail(time, ...operands) {
  const line = time === time ? lineOf(operands) : null;
  if (!line) return NaN;
  if (time < 0 || isEndless(line)) return 1;
  const paths = mixtures(line);
  if (!paths) return NaN;
  return time === Infinity ? 0 : Math.min(1, Math.max(0, paths.reduce((sum, mixture) => sum + tailAt(mixture, time), 0)));
}

function tailAt(mixture, time) {
  const { chance, fixed } = mixture, after = time - fixed, tail = tailOf(mixture, 0);
  if (Math.abs(after) <= SAME * time) return chance - atOnceOf(mixture);
  if (after < 0 || !tail.line.length) return after < 0 ? chance : 0;
  const goal = Math.max(0, tail.place * (after - tail.high)); // by Chernoff's bound
  let [share] = longerOf([{ ...tail, goal }], fixed, after);
  if (share > 0 && share < chance) [share] = longerOf([{ ...tail, goal: Math.max(goal, Math.log(chance / share)) }], fixed, after);
  return Math.min(chance, Math.max(0, share));
}

// The stages of operands, null where these make none.
export function lineOf(operands) {
  if (!operands.length || operands.length % OPERANDS) return null;
  const groups = Array.from({ length: operands.length / OPERANDS }, (_, k) => operands.slice(k * OPERANDS, (k + 1) * OPERANDS));
  const line = groups.every(isStage) ? read(groups) : null;
  return line && line.every(isSound) ? line : null;
}

function isEndless(line) { return passed(line).some(({ service, isLate, fullLoad, parts }) => service === Infinity || (isLate && fullLoad >= 1) || parts.some(isEndlessWork)); }

// Whether some of those who come wait for work without an end.
export function isEndlessWork({ waits, work }) { return waits > 0 && work === Infinity; }

// The paths through stages by the fixed time of each, null where there are too many.
export function pathsThrough(operands) { return mixtures(lineOf(operands)); }

// What the time to pass stages is where it has no law: not-a-number, or infinite.
export function withoutLaw(operands) {
  const line = lineOf(operands);
  return line ? (isEndless(line) ? Infinity : null) : NaN;
}

// The paths through stages, each with its chance, its fixed time and what varies on it: as a factor of others, it is taken with its chance.
export function pathFactors(line) {
  const found = mixtures(line);
  return found && found.flatMap(({ paths }) => paths.map((path) => ({ chance: path.chance, fixed: path.fixed, factor: path.stages.length ? factorOf(path) : null })));
}

function factorOf(path) {
  const { chance, fixed, stages } = path, mixture = { chance, fixed, paths: [path] }, tail = tailOf(mixture, 0);
  return {
    mass: chance, done: atOnceOf(mixture), nearest: tail.nearest, served: served(tail.line), isNarrow: isKinked(tail),
    mean: stages.reduce((sum, [stage, times]) => sum + chance * times * meanOf(stage), 0),
    into: (re, im, into) => { mixed(mixture, re, im); [into[0], into[1]] = out; },
  };
}

// The mean of what varies of a stage.
function meanOf({ isLate, isVaried, service, parts, servers, waiting, fullLoad, inside, chance }) {
  let first = 0, more = 0;
  for (const { waits, load, work, spread } of parts) {
    const left = (work * (1 + spread)) / 2 / servers;
    first += waits * left;
    more += load * left;
  }
  const own = (isVaried ? service : 0) + (isLate ? first + (waiting * more) / (1 - fullLoad) : 0);
  return inside.reduce((sum, one) => sum + meanOf(one), own) * chance;
}

export function isKinked({ terms }) { return terms === KINKED; }

const isSize = (value) => value >= 0 && value < Infinity;

export function isStage([waits, load, work, spread, servers, service, variation, often, inside]) {
  return waits >= 0 && load >= 0 && work >= 0 && [spread, variation, often].every(isSize) && servers >= 0 && service >= 0 && Math.abs(inside) < Infinity;
}

// Stages one after the other, those inside others within these.
function read(groups) {
  const found = [];
  for (let at = 0, end; at < groups.length; at = end) {
    const [waits, load, work, spread, servers, service, variation, often, inside] = groups[at], near = Math.round(often);
    end = Math.min(groups.length, at + 1 + Math.floor(Math.min(Math.abs(inside), groups.length)));
    const whole = Math.abs(often - near) <= 1e-13 * near ? near : Math.floor(often);
    found.push(stageOf({ waits: Math.min(waits, 1), load, work, spread, servers, service, variation, whole, share: Math.max(0, often - whole), within: read(groups.slice(at + 1, end)), isChoice: inside < 0 }));
  }
  return found;
}

// With what is asked of it again and again; `fixed` is what is always the same of one passage, but for what is inside.
function stageOf({ within, ...stage }) {
  const { servers, service, variation, whole, share } = stage, inside = within.filter((one) => one.servers), beside = within.filter((one) => !one.servers);
  const parts = [stage, ...beside], isLate = parts.some(({ waits, work }) => waits > 0 && work > 0), isVaried = service > 0 && variation > 0;
  const left = 1 - inside.reduce((sum, { chance }) => sum + chance, 0), isNarrow = (variation > 0 && variation < NARROW) || (isLate && parts.some(({ work, spread }) => work > 0 && spread < NARROW));
  const waiting = Math.min(1, parts.reduce((sum, { waits }) => sum + waits, 0)), fullLoad = parts.reduce((sum, { load }) => sum + load, 0), work = parts.reduce((sum, one) => sum + one.work, 0);
  return { ...stage, inside, parts, servers, chance: whole + share, left: left > 1e-13 ? left : 0, isPassed: whole > 0 || share > 0, isLate, isVaried, isRandom: isLate || isVaried, isNarrow, waiting, fullLoad, fullWork: work, fixed: variation ? 0 : service };
}

// Whether all have servers, and the chances of alternatives do not exceed 1.
function isSound({ servers, isChoice, inside }) {
  return servers > 0 && !(isChoice && inside.reduce((sum, { chance }) => sum + chance, 0) > 1 + SAME) && inside.every(isSound);
}

function passed(line) { return line.filter(({ isPassed }) => isPassed).flatMap((stage) => [...(stage.service || stage.isLate ? [stage] : []), ...passed(stage.inside)]); }

// Which share takes no longer than what is always the same.
function atOnce(line) {
  return line.reduce((found, stage) => {
    const once = onceAtOnce(stage);
    return found * once ** stage.whole * (1 - stage.share + stage.share * once);
  }, 1);
}

function onceAtOnce({ isVaried, isLate, waiting, isChoice, left, inside }) {
  if (isVaried) return 0;
  return (isLate ? 1 - waiting : 1) * (isChoice ? inside.reduce((sum, one) => sum + one.chance * onceAtOnce(one), left) : atOnce(inside));
}

export function atOnceOf({ paths }) {
  return paths.reduce((sum, { chance, stages }) => sum + stages.reduce((found, [stage, times]) => found * atOnce([stage]) ** times, chance), 0);
}

// The quantile of a mixture of paths: the fixed time of one of them, or beyond it.
function placed(paths, level) {
  const goal = -Math.log1p(-level), late = 1 - level, tails = paths.map((mixture) => tailOf(mixture, goal)), longer = [0];
  for (const { chance } of [...paths].reverse()) longer.unshift(longer[0] + chance);
  for (let k = 0; k < paths.length; k++) {
    if (longer[k + 1] > late * (1 + SAME)) continue; // more than that take the next fixed time at least
    const { fixed } = paths[k], ahead = k + 1 < paths.length ? paths[k + 1].fixed : Infinity, soFar = tails.slice(0, k + 1);
    if (longerOf(tails.slice(0, k), fixed, 0)[0] + longer[k] - atOnceOf(paths[k]) <= late * (1 + SAME)) return fixed;
    if (ahead < Infinity && longerOf(soFar, ahead, 0)[0] + longer[k + 1] > late * (1 - SAME)) continue;
    const high = Math.min(Math.max(...soFar.map((tail) => tail.high + tail.mixture.fixed)) - fixed, ahead - fixed);
    return fixed + fallingRoot((time) => {
      const [some, density] = longerOf(soFar, fixed, time), found = some + longer[k + 1];
      return found > 0 ? [Math.log(found) + goal, -density / found] : [-1, 0];
    }, 0, high, high, soFar.every(({ terms }) => terms === SMOOTH) ? NEAR : NEXT_TO);
  }
  return paths.at(-1).fixed;
}

// What is needed of a mixture to tell which share takes longer than a time.
export function tailOf(mixture, goal) {
  const line = mixture.paths.flatMap(({ stages }) => stages.map(([stage]) => stage));
  if (!line.length) return { mixture, line, terms: SMOOTH, high: 0 };
  const every = passed(line);
  let nearest = Math.min(...every.map(decay));
  if (nearest === Infinity) nearest = 1 / every.reduce((sum, { service, fullWork }) => sum + service + fullWork, 0);
  const terms = every.some(({ isNarrow }) => isNarrow) ? KINKED : SMOOTH;
  const left = Math.min(nearest / 2, LONG / (served(line) || TINY)); // where the transform is no power that is too long
  mixed(mixture, -left, 0);
  return { mixture, line, nearest, goal, terms, place: left, high: (Math.log(Math.max(out[0] / mixture.chance, 1)) + goal) / left }; // by Chernoff's bound
}

// How far right of zero the line of integration is, as a part of 1/t; not next to it.
export function gapOf(nearest, goal, time, discount = DISCOUNT) {
  const gap = discount / 2 - Math.min(TOWARDS * nearest * time, goal);
  return Math.abs(gap) < 1 ? 1 : gap;
}

// What of some mixtures takes longer than a time after another one, and the density.
export function longerOf(tails, since, time) {
  let found = 0, density = 0;
  for (const tail of tails) {
    const { mixture, line, nearest, goal, terms } = tail, after = since - mixture.fixed + time;
    if (after < 0 || (after === 0 && line.length)) found += mixture.chance;
    if (!(after > 0) || !line.length) continue;
    const gap = gapOf(nearest, goal, after), scale = Math.exp(gap) / after;
    for (let k = 0; k < terms.length; k++) {
      const re = gap / after, im = (k * Math.PI) / after;
      mixed(mixture, re, im);
      found += (scale * terms[k] * ((mixture.chance - out[0]) * re - out[1] * im)) / (re * re + im * im);
      density += scale * terms[k] * out[0];
    }
  }
  return [found, density];
}

// The transform of what varies on the paths of a mixture, each by its chance, into `out`.
function mixed({ paths }, re, im) {
  let x = 0, y = 0;
  for (const { chance, stages } of paths) {
    let a = chance, b = 0;
    for (const [stage, times] of stages) {
      transform([stage], re, im);
      const [c, d] = out;
      for (let turn = 0; turn < times; turn++) [a, b] = [a * c - b * d, a * d + b * c];
    }
    x += a;
    y += b;
  }
  out[0] = x;
  out[1] = y;
}

// How long stages serve at most, without waits.
function served(line) { return line.reduce((sum, stage) => sum + stage.chance * servedOnce(stage), 0); }

function servedOnce({ service, inside, isChoice }) { return service + (isChoice ? Math.max(0, ...inside.map((one) => (one.isPassed ? servedOnce(one) : 0))) : served(inside)); }

// What the rate at which the tail of a stage falls is at least.
function decay({ isLate, parts, fullLoad, servers, service, variation }) {
  const own = variation * service > 0 ? 1 / (variation * service) : Infinity, spare = 1 - fullLoad;
  let carried = 0, longest = 0;
  for (const { waits, load, work, spread } of parts) {
    const scale = (work * (spread <= 1 ? (1 + spread) / 2 : spread)) / servers;
    carried += load * scale;
    if (waits || load) longest = Math.max(longest, scale);
  }
  return isLate && longest ? Math.min(own, spare / (carried + spare * longest)) : own;
}

// E exp(-s T) at s = re + i im, into `out`, where T is the time that stages take beyond what is always the same.
function transform(line, re, im) {
  let x = 1, y = 0;
  for (const stage of line) {
    if (!stage.isPassed) continue;
    onePassage(stage, re, im);
    let [a, b] = out, real;
    if (stage.whole) {
      let rest = stage.whole, c = a, d = b;
      for (;;) {
        if (rest % 2) {
          real = x * c - y * d;
          y = x * d + y * c;
          x = real;
        }
        rest = Math.floor(rest / 2);
        if (!rest) break;
        real = c * c - d * d;
        d *= 2 * c;
        c = real;
      }
    }
    if (!stage.share) continue;
    a = 1 - stage.share + stage.share * a;
    b *= stage.share;
    real = x * a - y * b;
    y = x * b + y * a;
    x = real;
  }
  out[0] = x;
  out[1] = y;
}

// That of one passage of a stage, into `out`.
function onePassage(stage, re, im) {
  let a = 1, b = 0, real;
  if (stage.isChoice) {
    a = stage.left;
    for (const one of stage.inside) {
      if (!one.isPassed) continue;
      onePassage(one, re, im);
      a += one.chance * out[0];
      b += one.chance * out[1];
    }
  } else if (stage.inside.length) {
    transform(stage.inside, re, im);
    a = out[0];
    b = out[1];
  }
  if (stage.isVaried) {
    less(re * stage.service, im * stage.service, stage.variation);
    real = a + a * out[0] - b * out[1];
    b += a * out[1] + b * out[0];
    a = real;
  }
  if (stage.isLate) {
    waitOf(stage, re, im);
    real = a * out[0] - b * out[1];
    b = a * out[1] + b * out[0];
    a = real;
  }
  out[0] = a;
  out[1] = b;
}

// E exp(-s W) for the wait W of all, also of those who do not wait.
function waitOf({ parts, fullLoad, waiting, servers }, re, im) {
  const spare = 1 - fullLoad;
  let above = 0, beside = 0, below = spare, aside = 0;
  for (const { waits, load, work, spread } of parts) {
    restOf((re * work) / servers, (im * work) / servers, spread);
    above += waits * (1 - out[0]);
    beside -= waits * out[1];
    below += load * out[0];
    aside += load * out[1];
  }
  const size = (below * below + aside * aside) / spare;
  out[0] = 1 - waiting + (above * below + beside * aside) / size;
  out[1] = (beside * below - above * aside) / size;
}

// 1 - E exp(-z R) for what is left of a time of mean 1, to all digits.
export function restOf(re, im, v, into = out) {
  const size = re * re + im * im;
  if (v !== 1 && Math.sqrt(size) * (1 + TERMS * v) < SMALL) {
    let a = 1, b = 0;
    for (let k = TERMS; k > 1; k--) {
      const by = -(1 + k * v) / (k + 1), next = 1 + by * (re * a - im * b);
      b = by * (re * b + im * a);
      a = next;
    }
    into[0] = ((re * a - im * b) * (1 + v)) / 2;
    into[1] = ((re * b + im * a) * (1 + v)) / 2;
    return;
  }
  less(re, im, v, into);
  const a = into[0], b = into[1];
  if (v === 1) {
    into[0] = -a;
    into[1] = -b;
  } else {
    into[0] = 1 + (a * re + b * im) / size;
    into[1] = (b * re - a * im) / size;
  }
}

// E exp(-z S) - 1 for a time S of mean 1, to all digits where z is small.
export function less(re, im, v, into = out) {
  if (v === 1) {
    const size = (1 + re) * (1 + re) + im * im;
    into[0] = -(re * (1 + re) + im * im) / size;
    into[1] = -im / size;
    return;
  }
  const x = v * re, y = v * im;
  const a = v ? -Math.log1p(x * (2 + x) + y * y) / (2 * v) : -re, b = v ? -Math.atan2(y, 1 + x) / v : -im;
  const half = Math.sin(b / 2), longer = Math.expm1(a);
  into[0] = longer * (1 - 2 * half * half) - 2 * half * half;
  into[1] = (1 + longer) * 2 * half * Math.cos(b / 2);
}
