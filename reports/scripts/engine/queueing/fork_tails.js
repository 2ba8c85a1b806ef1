// Which share takes longer than a time on paths of which each is a product of factors: `engine/distributions/sum_mixtures.py` tells how.

import { gapOf, KINKED, LONG, TINY, weights } from "./sums.js";

const SMOOTH = weights(12, 16), DISCOUNT = 23, SAME = 1e-12;
const out = new Float64Array(2), one = new Float64Array(2); // both parts of complex numbers that were found last

export function termsOf(paths) { return paths.some(({ factors }) => factors.some(({ isNarrow }) => isNarrow)) ? KINKED : SMOOTH; }

// The transform of what varies on a path, times its chance, into `out`.
function transform({ share, factors }, re, im) {
  let a = share, b = 0;
  for (const { into } of factors) {
    into(re, im, one);
    const real = a * one[0] - b * one[1];
    b = a * one[1] + b * one[0];
    a = real;
  }
  out[0] = a;
  out[1] = b;
}

function nearestOf({ factors }) { return Math.min(...factors.map(({ nearest }) => nearest)); }

// A place left of zero, and the logarithm of the transform there.
function chernoff(path) {
  if (path.chernoff) return path.chernoff;
  const left = Math.min(nearestOf(path) / 2, LONG / Math.max(path.factors.reduce((sum, { served }) => sum + served, 0), TINY));
  transform(path, -left, 0);
  path.chernoff = [left, Math.log(Math.max(path.chance > 0 ? out[0] / path.chance : 1, 1))];
  return path.chernoff;
}

// How far beyond its fixed time quantiles of a path are at most, by Chernoff's bound.
export function furthest(path, goal) {
  if (!path.factors.length) return 0;
  const [left, size] = chernoff(path);
  return (size + goal) / left;
}

// Which share takes some paths and longer than a time, and the density.
export function longer(paths, time, goal, terms) {
  let found = 0, density = 0;
  for (const path of paths) {
    const [share, slope] = later(path, time - path.fixed, goal, terms);
    found += share;
    density += slope;
  }
  return [found, density];
}

function later(path, after, goal, terms) {
  const { chance, factors } = path;
  if (!(after > 0) || !factors.length) return [after < 0 || (after === 0 && factors.length) ? chance : 0, 0];
  const gap = gapOf(nearestOf(path), goal, after, DISCOUNT), re = gap / after;
  let found = 0, density = 0;
  for (let k = 0; k < terms.length; k++) {
    const im = (k * Math.PI) / after;
    transform(path, re, im);
    found += (terms[k] * ((chance - out[0]) * re - out[1] * im)) / (re * re + im * im);
    density += terms[k] * out[0];
  }
  const scale = Math.exp(gap) / after;
  return [scale * found, scale * density];
}

// Which share takes a time at least, and which longer: the fixed time of a path.
export function around(paths, time, goal, terms) {
  let before = 0, at = 0;
  for (const path of paths) {
    const after = time - path.fixed, isSame = Math.abs(after) <= SAME * time, [share] = later(path, isSame ? -1 : after, goal, terms);
    before += share;
    at += isSame ? share - path.factors.reduce((found, { done }) => found * done, path.share) : share;
  }
  return [before, at];
}
