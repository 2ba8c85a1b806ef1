// Where functions vanish, and integrals by Gauss's rule.

// Where a falling function vanishes, by Newton's steps, halved where they leave the bracket; `f`
// gives value and slope (`engine/numerics/falling_roots.py`).
export function fallingRoot(f, from, to, start, near = 1e-9) {
  let low = from, high = to, point = start;
  for (let turn = 0; turn < 120; turn++) {
    const [value, slope] = f(point);
    if (value === 0 || value !== value) return value === 0 ? point : NaN;
    if (value > 0) low = point;
    else high = point;
    let after = point - value / slope;
    const isInside = after >= low && after <= high;
    if (!isInside) after = (low + high) / 2;
    // Newton's step from nearby is exact; a halved one is when nothing is left to halve.
    if (isInside ? Math.abs(after - point) <= near * after : high - low <= 2e-15 * high) return after;
    point = after;
  }
  return point;
}

// Where a rising function vanishes, by false position, the end that stays counting half (`engine/numerics/falling_roots.py`).
export function risingRoot(f, from, to) {
  let low = from, high = to, below = f(low), above = f(high), point = high, stayed = 0;
  for (let turn = 0; turn < 120; turn++) {
    const last = point;
    point = high - (above * (high - low)) / (above - below);
    const value = point > low && point < high ? f(point) : 0;
    if (value === 0 || Math.abs(point - last) <= 2e-16 * high) break;
    if (value > 0) {
      high = point; above = value;
      if (stayed > 0) below /= 2;
      stayed = 1;
    } else {
      low = point; below = value;
      if (stayed < 0) above /= 2;
      stayed = -1;
    }
  }
  return Math.min(Math.max(point, low), high);
}

const POINTS = 40;

// Gauss's nodes and weights between -1 and 1: roots of Legendre's polynomial, by Newton's steps.
export function gaussLegendre(points) {
  return Array.from({ length: points }, (_, i) => {
    let x = Math.cos((Math.PI * (i + 0.75)) / (points + 0.5)), slope = 0;
    for (let turn = 0; turn < 6; turn++) {
      let last = 1, value = x;
      for (let k = 2; k <= points; k++) [last, value] = [value, ((2 * k - 1) * x * value - (k - 1) * last) / k];
      slope = (points * (x * value - last)) / (x * x - 1);
      x -= value / slope;
    }
    return [x, 2 / ((1 - x * x) * slope * slope)];
  });
}

// The same between 0 and 1.
export const RULE = gaussLegendre(POINTS).map(([x, weight]) => [(1 + x) / 2, weight / 2]);

// The integral of a function over a length.
export function integral(f, from, length) {
  let total = 0;
  for (const [node, weight] of RULE) total += weight * f(from + length * node);
  return total * length;
}
