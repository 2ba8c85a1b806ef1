// Exact fractions: an array of two big integers, [above, below], the one below positive; 0 for infinities.

const MAX_BITS = 100000;

export const ZERO = [0n, 1n];
export const ONE = [1n, 1n];
export const HALF = [1n, 2n];
export const INFINITE = [1n, 0n];

function compared(p, q) { return p[1] || q[1] ? p[0] * q[1] - q[0] * p[1] : p[0] - q[0]; }
export function isLess(p, q) { return compared(p, q) < 0n; }
export function isWhole(p) { return p[1] === 1n; }
export function inverse([above, below]) { return above < 0n ? [-below, -above] : [below, above]; }
export function plus(p, q) { return p[1] || q[1] ? reduced(p[0] * q[1] + q[0] * p[1], p[1] * q[1]) : p[0] === q[0] ? p : null; }
export function less(p, q) { return plus(p, [-q[0], q[1]]); }
export function product(p, q) { return reduced(p[0] * q[0], p[1] * q[1]); }

// A function that is a fraction at one point alone.
export function only(at, value) { return (p) => (compared(p, at) ? null : value); }

// The logarithm to base 2 of a power of it; null of what is none.
export function logarithmOf(p) {
  if (p.some((part) => part & (part - 1n))) return null;
  return p[0].toString(2).length - p[1].toString(2).length;
}

// A quotient in its lowest terms; null for nothing over nothing.
export function reduced(above, below) {
  if (below < 0n) { above = -above; below = -below; }
  let a = sizeOf(above), b = below;
  while (b) [a, b] = [b, a % b];
  if (a === 0n) return null;
  return a > 1n ? [above / a, below / a] : [above, below];
}

function sizeOf(value) { return value < 0n ? -value : value; }

// A whole power; null for one of nothing below 0, and for one with too many digits.
export function powerOf([above, below], exponent) {
  const size = Math.abs(exponent);
  if ((above === 0n && exponent < 0) || size * lengthOf(sizeOf(above) > below ? above : below) > MAX_BITS) return null;
  const power = [above ** BigInt(size), below ** BigInt(size)];
  return exponent >= 0 ? power : reduced(power[1], power[0]);
}

function lengthOf(value) { return value.toString(2).length; }

// A root where it is a fraction; null where it is none.
export function rootOf([above, below], degree) {
  const parts = above < 0n ? [null] : [wholeRoot(above, degree), wholeRoot(below, degree)];
  return parts.includes(null) ? null : parts;
}

function wholeRoot(value, degree) {
  const power = BigInt(degree);
  let low = 0n, high = 2n ** BigInt(Math.floor(lengthOf(value) / degree) + 1);
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (middle ** power <= value) low = middle;
    else high = middle - 1n;
  }
  return low ** power === value ? low : null;
}

export function floorOf([above, below]) {
  const whole = above / below;
  return above % below !== 0n && above < 0n ? whole - 1n : whole;
}

export function isEqual(one, other) { return one[0] * other[1] === other[0] * one[1]; }

// A quotient of two whole numbers of any size, rounded once or nearly so.
export function quotient(above, below) {
  const largest = 9007199254740991n;
  if (sizeOf(above) <= largest && sizeOf(below) <= largest) return Number(above) / Number(below);
  const shift = BigInt(Math.max(0, lengthOf(below) - lengthOf(above) + 64));
  const shifted = Number((above << shift) / below);
  return shifted / 2 ** Math.min(1000, Number(shift)) / 2 ** Math.max(0, Number(shift) - 1000);
}

// A decimal number as a fraction: "1.5e3" is 1500/1. Null for anything else.
export function exactOf(text) {
  const found = /^\s*([+-]?)(\d[\d_,]*)?(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text);
  if (!found || (found[2] === undefined && found[3] === undefined)) return null;
  const digits = (found[2] ?? "").replace(/[_,]/g, "") + (found[3] ?? "");
  const shift = Number(found[4] ?? 0) - (found[3] ?? "").length;
  const whole = BigInt(found[1] + (digits || "0"));
  return shift >= 0 ? [whole * 10n ** BigInt(shift), 1n] : reduced(whole, 10n ** BigInt(-shift));
}
