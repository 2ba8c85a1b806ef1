// Incomplete gamma functions, to all digits at any size, and what is made of them.

import { integral } from "./roots.js";

const FEW = 24; // up to such shapes series and continued fractions are short
const NOTHING = 80;

// The logarithm of gamma, by Stirling's series from 12 on (Abramowitz and Stegun 6.1.41).
export function logGamma(shape) {
  let product = 1, x = shape;
  for (; x < 12; x++) product *= x;
  return (x - 0.5) * Math.log(x) - x + 0.9189385332046727 + stirlingRest(x) - Math.log(product);
}

// What Stirling's formula lacks of the logarithm of x!, and of gamma.
export function stirlingRest(x) {
  const y = 1 / (x * x);
  return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - (y * 691) / 360360))))) / x;
}

// Shares of a gamma law of a shape above and below a value.
export function gammaShares(shape, x) {
  if (!(x > 0)) return x === x ? [1, 0] : [NaN, NaN];
  if (x === Infinity) return [0, 1];
  const [above, below] = gammaParts(shape, x);
  return [1 / (1 + below / above), 1 / (1 + above / below)];
}

// The incomplete gamma functions above and below x, both times exp(x) x^-shape.
export function gammaParts(shape, x) {
  if (shape > FEW) return [peakPart(shape, x, 1), peakPart(shape, x, -1)];
  const all = Math.exp(logGamma(shape) + x - shape * Math.log(x));
  if (x >= shape + 1) {
    const above = byFraction(shape, x);
    return [above, all - above];
  }
  let term = 1 / shape, below = term;
  for (let k = 1; term > below * 1e-17; k++) below += term *= x / (shape + k);
  return [all - below, below];
}

// By Legendre's continued fraction (DLMF 8.9.2) in Lentz's way.
function byFraction(shape, x) {
  let b = x + 1 - shape, c = Infinity, d = 1 / b, found = d;
  for (let k = 1; k < 1000; k++) {
    const a = -k * (k - shape);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    found *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return found;
}

// In v = log(u/x) both parts are integrals of exp(shape v - x (e^v - 1)), which has one peak: that
// from v = 0 on to one side of it, in at most two pieces, before and behind the peak.
export function peakPart(shape, x, side) {
  const peak = -Math.log(x / shape);
  if (peak * side <= 0) return slope(Math.abs(shape - x), x, side, Infinity);
  const height = Math.exp(-shape * log1pLess((x - shape) / shape, x / shape));
  return height * (slope(0, shape, -side, Math.abs(peak)) + slope(0, shape, side, Infinity));
}

// The integral of exp(-apart w - size (e^(side w) - 1 - side w)) over w from 0 to an end.
function slope(apart, size, side, end) {
  const wide = NOTHING / size, root = Math.sqrt(wide);
  const far = side > 0 ? Math.min(root, Math.log1p(wide / 2 + root)) : root + wide / 6;
  const held = (w) => Math.exp(-apart * w - size * expm1Less(side * w));
  return integral(held, 0, Math.min(end, far, NOTHING / 2 / apart));
}

// e^w - 1 - w
function expm1Less(w) {
  if (Math.abs(w) > 0.1) return Math.expm1(w) - w;
  let sum = 0;
  for (let k = 11; k > 1; k--) sum = (sum * w) / (k + 1) + 1;
  return (sum * w * w) / 2;
}

// log(1 + x) - x, to all digits for small x; `added` is 1 + x.
function log1pLess(x, added) {
  if (Math.abs(x) > 0.3) return Math.log(added) - x;
  const ratio = x / (2 + x), square = ratio * ratio;
  let series = 2 / 21;
  for (let odd = 19; odd > 1; odd -= 2) series = series * square + 2 / odd;
  return ratio * (series * square - x);
}
