// Where functions vanish, and integrals by Gauss's rule.

// Where a falling function vanishes, by Newton's steps, halved where they leave the bracket; `f`
// gives value and slope (`engine/roots.py`).
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

const POINTS = 40;

// Gauss's nodes and weights between 0 and 1: roots of Legendre's polynomial, by Newton's steps.
export const RULE = Array.from({ length: POINTS }, (_, i) => {
  let x = Math.cos((Math.PI * (i + 0.75)) / (POINTS + 0.5)), slope = 0;
  for (let turn = 0; turn < 6; turn++) {
    let last = 1, value = x;
    for (let k = 2; k <= POINTS; k++) [last, value] = [value, ((2 * k - 1) * x * value - (k - 1) * last) / k];
    slope = (POINTS * (x * value - last)) / (x * x - 1);
    x -= value / slope;
  }
  return [(1 + x) / 2, 1 / ((1 - x * x) * slope * slope)];
});

// The integral of a function over a length.
export function integral(f, from, length) {
  let total = 0;
  for (const [node, weight] of RULE) total += weight * f(from + length * node);
  return total * length;
}
