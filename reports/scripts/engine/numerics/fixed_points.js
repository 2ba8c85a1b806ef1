// Steps to a fixed point that learn from the last ones: `engine/numerics/fixed_points.py` tells how.

const DEPTH = 3, SMALLEST = 1e-10;

export class FixedPointSteps {
  constructor() { Object.assign(this, { images: [], moves: [] }); }

  // Where to go on after a point of such an image.
  after(point, image) {
    this.images = [...this.images.slice(-DEPTH), image];
    this.moves = [...this.moves.slice(-DEPTH), image.map((one, k) => one - point[k])];
    const last = this.moves.at(-1), turns = this.moves.slice(0, -1).map((one) => one.map((value, k) => value - last[k]));
    if (!turns.length || !turns.flat().every(Number.isFinite)) return image;
    const found = image.slice();
    leastSquares(turns, last.map((one) => -one)).forEach((part, j) => this.images[j].forEach((one, k) => { found[k] += part * (one - image[k]); }));
    return found;
  }
}

// The parts of columns whose sum is nearest to a vector, by orthogonal columns, the longest first; what roundings leave of one is none.
function leastSquares(columns, wanted) {
  const left = columns.map((one) => one.slice()), parts = columns.map(() => 0), steps = [];
  const largest = Math.max(...columns.map(length));
  for (const open = new Set(columns.keys()); open.size;) {
    const at = [...open].reduce((best, j) => (length(left[j]) > length(left[best]) ? j : best)), long = length(left[at]);
    if (!(long > SMALLEST * largest)) break;
    open.delete(at);
    const unit = left[at].map((one) => one / long), row = new Map([[at, long]]);
    for (const j of open) {
      row.set(j, dot(unit, left[j]));
      left[j] = left[j].map((one, k) => one - row.get(j) * unit[k]);
    }
    steps.push({ at, row, value: dot(unit, wanted) });
  }
  const used = new Set(steps.map(({ at }) => at));
  for (const { at, row, value } of steps.reverse()) {
    let rest = value;
    for (const [j, by] of row) if (j !== at && used.has(j)) rest -= by * parts[j];
    parts[at] = rest / row.get(at);
  }
  return parts;
}

function length(values) { return Math.hypot(...values); }

function dot(one, other) { return one.reduce((sum, value, k) => sum + value * other[k], 0); }
