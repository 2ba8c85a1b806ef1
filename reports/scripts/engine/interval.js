// What a step can be while the population is anywhere in a box [low, high], and how fast it can
// rise there. So a question about every population is settled without trying each of them
// (Moore, Kearfott and Cloud 2009, Introduction to Interval Analysis, chapters 5 and 6).

import { slopesOf, VALUES } from "./operations.js";

export class Boxes {
  constructor(program) {
    this.program = program;
    for (const part of ["low", "high", "slow", "steep"]) this[part] = new Float64Array(program.size);
    this.bounds = program.steps.map(([word, ...parts]) => {
      const law = program.laws[word];
      return law ? (boxes, i) => boxes.monotone(i, VALUES[word], parts, law.grows) : BOUNDS[word];
    });
  }

  // Take over the values of steps that do not depend on the population.
  fix(order, x) {
    for (let k = 0; k < order.length; k++) {
      const i = order[k];
      this.low[i] = this.high[i] = x[i];
      this.slow[i] = this.steep[i] = 0;
    }
  }

  // Bounds of the moving steps in `order` over a box, and of their derivatives. Where roundings are
  // `relaxed`, of all curves that have any part of one in their place.
  run(order, from, to, relaxed = false) {
    this.relaxed = relaxed;
    const { low, high, slow, steep, bounds, program: { a, b } } = this;
    for (let k = 0; k < order.length; k++) {
      const i = order[k];
      if (i === 0) {
        low[0] = from; high[0] = to; slow[0] = steep[0] = 1;
        continue;
      }
      bounds[i](this, i, a[i], b[i]);
      if (!(low[i] <= high[i])) { low[i] = -Infinity; high[i] = Infinity; }
      if (!(slow[i] <= steep[i])) { slow[i] = -Infinity; steep[i] = Infinity; }
    }
  }

  keep(i, found) { this.low[i] = found[0]; this.high[i] = found[1]; }
  slope(i, found) { this.slow[i] = found[0]; this.steep[i] = found[1]; }

  // A function of one step has a slope between two.
  by(i, p, rates) { this.slope(i, times(this.slow[p], this.steep[p], rates[0], rates[1])); }

  // What rises or falls with each of its parts, all over.
  monotone(i, value, parts, grows) {
    const { low, high, slow, steep } = this;
    const end = (k, isLow) => (isLow === grows[k] < 0 ? high : low)[parts[k]];
    const isOpen = parts.some((part, k) => grows[k] === 0 && low[part] !== high[part]);
    this.keep(i, isOpen ? NOTHING : [true, false].map((isLow) => value(...parts.map((_, k) => end(k, isLow)))));
    let least = 0, most = 0;
    parts.forEach((part, k) => {
      times(slow[part], steep[part], grows[k] > 0 ? 0 : -Infinity, grows[k] < 0 ? 0 : Infinity);
      least += pair[0];
      most += pair[1];
    });
    this.slope(i, [least, most]);
  }

  quotient(i, p, q) {
    const { low, high, slow, steep } = this;
    this.keep(i, over(low[p], high[p], low[q], high[q]));
    const bend = times(low[i], high[i], slow[q], steep[q]);
    this.slope(i, over(slow[p] - bend[1], steep[p] - bend[0], low[q], high[q]));
  }

  // The larger of two (`sign` 1) or the smaller (-1).
  extreme(i, p, q, sign) {
    const { low, high, slow, steep } = this, pick = sign > 0 ? Math.max : Math.min;
    low[i] = pick(low[p], low[q]); high[i] = pick(high[p], high[q]);
    const one = (sign > 0 ? low[q] >= high[p] : high[q] <= low[p]) ? q : p; // it alone counts
    const other = (sign > 0 ? low[p] >= high[q] : high[p] <= low[q]) ? p : q;
    slow[i] = Math.min(slow[one], slow[other]); steep[i] = Math.max(steep[one], steep[other]);
  }

  rounded(i, p, word, between) {
    const { low, high } = this, ends = this.relaxed ? between : [VALUES[word](low[p]), VALUES[word](high[p])];
    this.keep(i, ends);
    this.by(i, p, this.relaxed ? [1, 1] : ends[0] === ends[1] ? [0, 0] : [0, Infinity]);
  }
}

const NOTHING = [NaN, NaN]; // anything may be

// Bounds of each operation: of a step from those of the steps that it works on.
const BOUNDS = {
  "+"({ low, high, slow, steep }, i, p, q) {
    low[i] = low[p] + low[q]; high[i] = high[p] + high[q];
    slow[i] = slow[p] + slow[q]; steep[i] = steep[p] + steep[q];
  },
  "-"({ low, high, slow, steep }, i, p, q) {
    low[i] = low[p] - high[q]; high[i] = high[p] - low[q];
    slow[i] = slow[p] - steep[q]; steep[i] = steep[p] - slow[q];
  },
  "*"(boxes, i, p, q) {
    const { low, high, slow, steep } = boxes;
    boxes.keep(i, times(low[p], high[p], low[q], high[q]));
    times(slow[p], steep[p], low[q], high[q]);
    const least = pair[0], most = pair[1];
    times(low[p], high[p], slow[q], steep[q]);
    slow[i] = least + pair[0]; steep[i] = most + pair[1];
  },
  "/": (boxes, i, p, q) => boxes.quotient(i, p, q),
  ratio: (boxes, i, p, q) => boxes.quotient(i, p, q),
  mean: (boxes, i, p, q) => boxes.quotient(i, p, q),
  // work / (1 - load), infinite from load 1 on: it grows with both where the work is not negative.
  waiting(boxes, i, p, q) {
    const { low, high, slow, steep } = boxes, isShort = high[q] < 1;
    if (low[p] >= 0) boxes.keep(i, [VALUES.waiting(low[p], low[q]), VALUES.waiting(high[p], high[q])]);
    else boxes.keep(i, isShort ? over(low[p], high[p], 1 - high[q], 1 - low[q]) : NOTHING);
    if (!isShort) return boxes.slope(i, low[p] >= 0 && slow[p] >= 0 && slow[q] >= 0 ? [0, Infinity] : NOTHING);
    const bend = times(low[i], high[i], slow[q], steep[q]);
    return boxes.slope(i, over(slow[p] + bend[0], steep[p] + bend[1], 1 - high[q], 1 - low[q]));
  },
  max: (boxes, i, p, q) => boxes.extreme(i, p, q, 1),
  min: (boxes, i, p, q) => boxes.extreme(i, p, q, -1),
  "^"(boxes, i, p, q) {
    const { low, high } = boxes, from = low[p], to = high[p], exponent = low[q];
    const isAcross = from < 0 && to > 0, ends = [VALUES["^"](from, exponent), VALUES["^"](to, exponent)];
    if (exponent < 0 && from <= 0 && to >= 0) return leaveOpen(boxes, i);
    boxes.keep(i, sorted(ends, exponent % 2 === 0 && isAcross));
    const rates = [from, to].map((end) => exponent * VALUES["^"](end, exponent - 1));
    return boxes.by(i, p, sorted(rates, exponent % 2 !== 0 && isAcross));
  },
  pow(boxes, i, p, q) {
    const { low, high, slow, steep } = boxes;
    if (!(low[p] > 0)) return leaveOpen(boxes, i);
    boxes.keep(i, sorted([low[p], high[p]].flatMap((x) => [Math.pow(x, low[q]), Math.pow(x, high[q])])));
    const inner = times(...over(slow[p], steep[p], low[p], high[p]), low[q], high[q]);
    const rates = times(inner[0], inner[1], low[i], high[i]);
    return boxes.slope(i, slow[q] === 0 && steep[q] === 0 ? rates : NOTHING);
  },
  abs(boxes, i, p) {
    const { low: { [p]: from }, high: { [p]: to } } = boxes, isAcross = from < 0 && to > 0;
    boxes.keep(i, sorted([Math.abs(from), Math.abs(to)], isAcross));
    boxes.by(i, p, isAcross ? [-1, 1] : from >= 0 ? [1, 1] : [-1, -1]);
  },
  sqrt: bent("sqrt"),
  exp: bent("exp"),
  ln: bent("ln", NaN, 0, Math.log),
  w: bent("w"),
  lower_w: bent("lower_w", -2, -Math.exp(2)),
  acos: bent("acos", Math.PI / 2, -1),
  cos(boxes, i, p) {
    const { low: { [p]: from }, high: { [p]: to } } = boxes, isNarrow = Math.floor(from / Math.PI) === Math.floor(to / Math.PI); // no turn inside
    boxes.keep(i, isNarrow ? sorted([Math.cos(from), Math.cos(to)]) : [-1, 1]);
    boxes.by(i, p, isNarrow ? (Math.sin((from + to) / 2) > 0 ? [-1, 0] : [0, 1]) : [-1, 1]);
  },
  floor: (boxes, i, p) => boxes.rounded(i, p, "floor", [boxes.low[p] - 1, boxes.high[p]]),
  ceil: (boxes, i, p) => boxes.rounded(i, p, "ceil", [boxes.low[p], boxes.high[p] + 1]),
  // More with more cores (an efficiency lies above one half), and with more kept of each.
  effective(boxes, i, p, q) {
    const { low, high } = boxes;
    boxes.keep(i, low[q] >= 0.5 ? [VALUES.effective(low[p], low[q]), VALUES.effective(high[p], high[q])] : NOTHING);
    boxes.slope(i, NOTHING);
  },
};

function leaveOpen(boxes, i) {
  boxes.keep(i, NOTHING);
  boxes.slope(i, NOTHING);
}

// A function that rises or falls, its slope too, but where its value is `turn`: there the slope is `rate`.
function bent(word, turn = NaN, rate = 0, value = VALUES[word]) {
  return (boxes, i, p) => {
    const at = [boxes.low[p], boxes.high[p]], ends = at.map(value), found = sorted(ends);
    const rates = at.map((one, k) => slopesOf(word, [one], ends[k])[0]);
    boxes.keep(i, found);
    boxes.by(i, p, sorted(found[0] <= turn && turn <= found[1] ? [...rates, rate] : rates));
  };
}

function sorted(values, isZeroToo = false) {
  const all = isZeroToo ? [...values, 0] : values;
  return [Math.min(...all), Math.max(...all)];
}

// Products and quotients of intervals share one pair for their result: read it at once.
const pair = new Float64Array(2);

function times(a, b, c, d) {
  if (a === 0 && b === 0 || c === 0 && d === 0) { pair[0] = pair[1] = 0; return pair; }
  const one = product(a, c), two = product(a, d), three = product(b, c), four = product(b, d);
  pair[0] = Math.min(one, two, three, four);
  pair[1] = Math.max(one, two, three, four);
  return pair;
}

function product(a, b) {
  const found = a * b;
  return found === found ? found : 0; // nothing times infinity
}

function over(a, b, c, d) {
  if (c > 0 || d < 0) return times(a, b, 1 / d, 1 / c);
  pair[0] = -Infinity;
  pair[1] = Infinity;
  return pair;
}
