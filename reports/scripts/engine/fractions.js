// Exact fractions: an array of two big integers, [above, below], the one below positive.

export function reduced(above, below) {
  if (below < 0n) { above = -above; below = -below; }
  let a = above < 0n ? -above : above, b = below;
  while (b) [a, b] = [b, a % b];
  return a > 1n ? [above / a, below / a] : [above, below];
}

export function powerOf([above, below], exponent) {
  const size = BigInt(Math.abs(exponent));
  if (exponent >= 0) return [above ** size, below ** size];
  return above === 0n ? null : reduced(below ** size, above ** size);
}

export function floorOf([above, below]) {
  const whole = above / below;
  return above % below !== 0n && above < 0n ? whole - 1n : whole;
}

export function isEqual(one, other) { return one[0] * other[1] === other[0] * one[1]; }

// A quotient of two whole numbers of any size, rounded once or nearly so.
export function quotient(above, below) {
  const largest = 9007199254740991n;
  const size = (v) => (v < 0n ? -v : v);
  if (size(above) <= largest && size(below) <= largest) return Number(above) / Number(below);
  const shift = BigInt(Math.max(0, below.toString(2).length - above.toString(2).length + 64));
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
