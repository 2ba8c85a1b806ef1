// A closed network of single servers with many customers, by an integral along the path of steepest descent:
// `engine/descent_numbers.py` tells how. Complex numbers are pairs.

const STEP = 0.125, STEPS = 50, MOST_STEPS = 50;

// The rate with so many customers, and their mean numbers at a copy of each station: a ratio of weights, and a number of copies.
export function atPopulation(customers, think, stations) {
  const largest = Math.max(...stations.map(([ratio]) => ratio));
  const parts = stations.map(([ratio, m]) => [ratio / largest, (largest - ratio) / largest, m]);
  const spare = saddle(customers, think / largest, parts), rate = 1 / (largest * (1 + spare));
  const pairs = parts.map(([part, apart, m]) => [part / (apart + spare), m]);
  let total = 0, more = 0;
  const own = pairs.map(() => 0);
  along(think * rate, pairs, (weight, ahead) => {
    total += weight[1];
    const moved = times(weight, ahead);
    more += moved[1];
    pairs.forEach(([b], k) => { own[k] += over(moved, [1 - b * ahead[0], -b * ahead[1]])[1]; });
  });
  return { rate: rate * (1 + more / total), held: pairs.map(([b], k) => b + b * (1 + b) * own[k] / total) };
}

function saddle(customers, think, parts) {
  let spare = Math.max(think / customers - 1, ...parts.map(([part, apart, m]) => m * part / customers - apart), 0) || 1e-300;
  for (let turn = 0; turn < MOST_STEPS; turn++) {
    let value = think / (1 + spare) - customers, slope = think / (1 + spare) ** 2;
    for (const [part, apart, m] of parts) {
      value += m * part / (apart + spare);
      slope += m * part / (apart + spare) ** 2;
    }
    spare += value / slope;
    if (value / slope <= 1e-15 * spare) break;
  }
  return spare;
}

// Tells weights of the rule along half of the path, and exp(w) - 1.
function along(think, stations, tell) {
  let spread = think, skew = think;
  for (const [b, m] of stations) {
    spread += m * b * (1 + b);
    skew += m * b * (1 + b) * (1 + 2 * b);
  }
  const size = Math.sqrt(2 / spread);
  const slopeAt = (t, w) => over([-2 * t, 0], exponent(w, think, stations).slope);
  let w = [0, 0], slope = [0, 0];
  for (let k = 0; k < STEPS; k++) {
    const t = (k + 0.5) * STEP;
    if (k === 0) w = [skew / (6 * spread) * (size * t) ** 2, size * t];
    else w = plus(w, slopeAt(t - STEP / 2, plus(w, slope, STEP / 2)), STEP);
    for (let turn = 0; turn < MOST_STEPS; turn++) {
      const { value, slope: rate } = exponent(w, think, stations), step = over([value[0] + t * t, value[1]], rate);
      w = plus(w, step, -1);
      if (Math.hypot(...step) <= 1e-9 * Math.hypot(...w)) break;
    }
    const { slope: rate, ahead } = exponent(w, think, stations);
    slope = over([-2 * t, 0], rate);
    tell(slope.map((part) => Math.exp(-t * t) * part), ahead);
  }
}

// phi(w), its slope, and exp(w) - 1.
function exponent([u, v], think, stations) {
  const grown = Math.exp(u), ahead = [Math.expm1(u) * Math.cos(v) - 2 * Math.sin(v / 2) ** 2, grown * Math.sin(v)];
  const value = [think * (ahead[0] - u), think * (ahead[1] - v)];
  let slope = [think, 0];
  for (const [b, m] of stations) {
    const x = -b * ahead[0], y = -b * ahead[1];
    value[0] -= m * (0.5 * Math.log1p(x * (2 + x) + y * y) + b * u);
    value[1] -= m * (Math.atan2(y, 1 + x) + b * v);
    slope = plus(slope, over([m * b * (1 + b), 0], [1 + x, y]));
  }
  return { value, slope: times(ahead, slope), ahead };
}

function plus([a, b], [c, d], factor = 1) { return [a + factor * c, b + factor * d]; }

function times([a, b], [c, d]) { return [a * c - b * d, a * d + b * c]; }

function over([a, b], [c, d]) {
  const size = c * c + d * d;
  return [(a * c + b * d) / size, (b * c - a * d) / size];
}
