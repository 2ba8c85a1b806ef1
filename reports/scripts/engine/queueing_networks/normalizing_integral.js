// A closed network of single servers with many customers, by an integral along the path of steepest descent:
// `engine/queueing_networks/normalizing_integral.py` tells how.

const STEP = 0.125, STEPS = 50, MAX_STEPS = 50;

// The rate with so many customers, and their mean numbers at a copy of each station: a ratio of weights, and a number of copies.
export function atPopulation(customers, think, stations) {
  const largest = Math.max(...stations.map(([ratio]) => ratio));
  const parts = stations.map(([ratio, m]) => [ratio / largest, (largest - ratio) / largest, m]);
  const spare = saddle(customers, think / largest, parts), rate = 1 / (largest * (1 + spare));
  const pairs = parts.map(([part, apart, m]) => [part / (apart + spare), m]);
  let total = 0, more = 0;
  const own = pairs.map(() => 0);
  along(think * rate, pairs, (weight, beside, a, b) => {
    total += beside;
    const re = weight * a - beside * b, im = weight * b + beside * a;
    more += im;
    for (let k = 0; k < pairs.length; k++) {
      const x = 1 - pairs[k][0] * a, y = -pairs[k][0] * b;
      own[k] += (im * x - re * y) / (x * x + y * y);
    }
  });
  return { rate: rate * (1 + more / total), held: pairs.map(([b], k) => b + b * (1 + b) * own[k] / total) };
}

function saddle(customers, think, parts) {
  let spare = Math.max(think / customers - 1, ...parts.map(([part, apart, m]) => m * part / customers - apart), 0) || 1e-300;
  for (let turn = 0; turn < MAX_STEPS; turn++) {
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

// Tells weights of the rule along half of the path, and exp(w) - 1: the parts of both.
function along(think, stations, add) {
  let spread = think, skew = think;
  for (const [b, m] of stations) {
    spread += m * b * (1 + b);
    skew += m * b * (1 + b) * (1 + 2 * b);
  }
  const size = Math.sqrt(2 / spread), at = new Float64Array(6);
  let u = 0, v = 0, p = 0, q = 0; // w, and its slope
  for (let k = 0; k < STEPS; k++) {
    const t = (k + 0.5) * STEP, last = t - STEP / 2;
    if (k === 0) {
      u = skew / (6 * spread) * (size * t) ** 2;
      v = size * t;
    } else {
      exponent(u + (STEP / 2) * p, v + (STEP / 2) * q, think, stations, at);
      const rate = at[2] * at[2] + at[3] * at[3];
      u += STEP * ((-2 * last * at[2]) / rate);
      v += STEP * ((2 * last * at[3]) / rate);
    }
    for (let turn = 0; turn < MAX_STEPS; turn++) {
      exponent(u, v, think, stations, at);
      const above = at[0] + t * t, rate = at[2] * at[2] + at[3] * at[3];
      const x = (above * at[2] + at[1] * at[3]) / rate, y = (at[1] * at[2] - above * at[3]) / rate;
      u -= x;
      v -= y;
      if (Math.hypot(x, y) <= 1e-9 * Math.hypot(u, v)) break;
    }
    exponent(u, v, think, stations, at);
    const rate = at[2] * at[2] + at[3] * at[3], weight = Math.exp(-t * t);
    p = (-2 * t * at[2]) / rate;
    q = (2 * t * at[3]) / rate;
    add(weight * p, weight * q, at[4], at[5]);
  }
}

// phi(w), its slope, and exp(w) - 1, at w = u + i v, into `found`.
function exponent(u, v, think, stations, found) {
  const longer = Math.expm1(u), half = Math.sin(v / 2), turned = 2 * half * half, cosine = 1 - turned;
  const a = longer * cosine - turned, b = (1 + longer) * 2 * half * Math.cos(v / 2);
  let re = think * (a - u), im = think * (b - v), rise = think, side = 0;
  for (let k = 0; k < stations.length; k++) {
    const ratio = stations[k][0], m = stations[k][1], x = -ratio * a, y = -ratio * b, away = m * ratio * (1 + ratio) / ((1 + x) * (1 + x) + y * y);
    re -= m * (0.5 * Math.log1p(x * (2 + x) + y * y) + ratio * u);
    im -= m * (Math.atan2(y, 1 + x) + ratio * v);
    rise += away * (1 + x);
    side -= away * y;
  }
  found[0] = re;
  found[1] = im;
  found[2] = a * rise - b * side;
  found[3] = a * side + b * rise;
  found[4] = a;
  found[5] = b;
}
