// What a step can be while the population is anywhere in a box [low, high], and how fast it can
// rise there. So a question about every population is settled without trying each of them
// (Moore, Kearfott and Cloud 2009, Introduction to Interval Analysis, chapters 5 and 6).

import { applied, CODES, isOfQueues, lambertW, lowerLambertW, OP, power } from "./program.js";
import { GROWS, waiting } from "./queues.js";

export class Boxes {
  constructor(program) {
    this.program = program;
    for (const part of ["low", "high", "slow", "steep"]) this[part] = new Float64Array(program.size);
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
    const { code, a, b } = this.program;
    const { low, high, slow, steep } = this;
    for (let k = 0; k < order.length; k++) {
      const i = order[k], p = a[i], q = b[i];
      switch (code[i]) {
        case OP.n:
          low[i] = from; high[i] = to; slow[i] = steep[i] = 1;
          break;
        case OP["+"]:
          low[i] = low[p] + low[q]; high[i] = high[p] + high[q];
          slow[i] = slow[p] + slow[q]; steep[i] = steep[p] + steep[q];
          break;
        case OP["-"]:
          low[i] = low[p] - high[q]; high[i] = high[p] - low[q];
          slow[i] = slow[p] - steep[q]; steep[i] = steep[p] - slow[q];
          break;
        case OP["*"]: {
          this.keep(i, times(low[p], high[p], low[q], high[q]));
          const [least, most] = times(slow[p], steep[p], low[q], high[q]);
          times(low[p], high[p], slow[q], steep[q]);
          slow[i] = least + pair[0]; steep[i] = most + pair[1];
          break;
        }
        case OP["/"]: case OP.ratio: case OP.mean: {
          this.keep(i, over(low[p], high[p], low[q], high[q]));
          const bend = times(low[i], high[i], slow[q], steep[q]);
          this.slope(i, over(slow[p] - bend[1], steep[p] - bend[0], low[q], high[q]));
          break;
        }
        case OP.waiting: this.wait(i, p, q); break;
        case OP.effective: {
          // More with more cores (an efficiency lies above one half), and with more kept of each.
          this.keep(i, [applied(code[i], low[p], low[q]), applied(code[i], high[p], high[q])]);
          this.slope(i, [NaN, NaN]);
          break;
        }
        case OP.max: this.extreme(i, p, q, low, high, 1); break;
        case OP.min: this.extreme(i, p, q, low, high, -1); break;
        default:
          if (isOfQueues(code[i])) this.monotone(i);
          else this.apply(i, code[i], p, q);
      }
      if (!(low[i] <= high[i])) { low[i] = -Infinity; high[i] = Infinity; }
      if (!(slow[i] <= steep[i])) { slow[i] = -Infinity; steep[i] = Infinity; }
    }
  }

  keep(i, found) { this.low[i] = found[0]; this.high[i] = found[1]; }
  slope(i, found) { this.slow[i] = found[0]; this.steep[i] = found[1]; }

  // work / (1 - load), infinite from load 1 on: it grows with both where the work is not negative.
  wait(i, p, q) {
    const { low, high, slow, steep } = this;
    const ends = [waiting(low[p], low[q]), waiting(high[p], high[q])];
    if (!(low[p] >= 0)) {
      if (high[q] < 1) this.keep(i, over(low[p], high[p], 1 - high[q], 1 - low[q]));
      else this.keep(i, [NaN, NaN]);
      return this.slope(i, [NaN, NaN]);
    }
    this.keep(i, ends);
    if (high[q] < 1) {
      const bend = times(low[i], high[i], slow[q], steep[q]);
      return this.slope(i, over(slow[p] + bend[0], steep[p] + bend[1], 1 - high[q], 1 - low[q]));
    }
    return this.slope(i, slow[p] >= 0 && slow[q] >= 0 ? [0, Infinity] : [NaN, NaN]);
  }

  // Functions of queues rise or fall with each of their parts, all over.
  monotone(i) {
    const { program, low, high, slow, steep } = this;
    const code = program.code[i], parts = program.partsOf(i), grows = GROWS[CODES[code]];
    this.keep(i, [
      applied(code, ...parts.map((part, k) => (grows[k] < 0 ? high : low)[part])),
      applied(code, ...parts.map((part, k) => (grows[k] < 0 ? low : high)[part])),
    ]);
    let least = 0, most = 0;
    parts.forEach((part, k) => {
      if (grows[k] === 0 && low[part] !== high[part]) this.keep(i, [NaN, NaN]);
      times(slow[part], steep[part], grows[k] > 0 ? 0 : -Infinity, grows[k] < 0 ? 0 : Infinity);
      least += pair[0];
      most += pair[1];
    });
    this.slope(i, [least, most]);
  }

  extreme(i, p, q, low, high, sign) {
    const pick = sign > 0 ? Math.max : Math.min;
    this.keep(i, [pick(low[p], low[q]), pick(high[p], high[q])]);
    const first = sign > 0 ? low[p] >= high[q] : high[p] <= low[q];
    const second = sign > 0 ? low[q] >= high[p] : high[q] <= low[p];
    if (first || second) {
      const chosen = first ? p : q;
      this.slope(i, [this.slow[chosen], this.steep[chosen]]);
    } else {
      this.slope(i, [Math.min(this.slow[p], this.slow[q]), Math.max(this.steep[p], this.steep[q])]);
    }
  }

  // Functions of one argument: all but even powers and the absolute value are monotone.
  apply(i, code, p, q) {
    const { low, high } = this;
    const from = low[p], to = high[p];
    const by = (rate) => this.slope(i, times(this.slow[p], this.steep[p], rate[0], rate[1]));
    switch (code) {
      case OP["^"]: {
        const ends = [power(from, q), power(to, q)];
        const bottom = q % 2 === 0 && from < 0 && to > 0 ? 0 : Math.min(...ends);
        this.keep(i, [bottom, Math.max(...ends)]);
        const rates = [q * power(from, q - 1), q * power(to, q - 1)];
        const flat = q % 2 === 1 && from < 0 && to > 0 ? 0 : Math.min(...rates);
        return by([flat, Math.max(...rates)]);
      }
      case OP.abs:
        this.keep(i, from >= 0 ? [from, to] : to <= 0 ? [-to, -from] : [0, Math.max(-from, to)]);
        return by(from >= 0 ? [1, 1] : to <= 0 ? [-1, -1] : [-1, 1]);
      case OP.ceil: case OP.floor: {
        const ends = [applied(code, from), applied(code, to)];
        if (this.relaxed) {
          this.keep(i, code === OP.ceil ? [from, to + 1] : [from - 1, to]);
          return by([1, 1]);
        }
        this.keep(i, ends);
        return by(ends[0] === ends[1] ? [0, 0] : [0, Infinity]);
      }
      case OP.sqrt: {
        this.keep(i, [Math.sqrt(from), Math.sqrt(to)]);
        return by([0.5 / high[i], 0.5 / low[i]]);
      }
      case OP.exp: this.keep(i, [Math.exp(from), Math.exp(to)]); return by([low[i], high[i]]);
      case OP.ln: this.keep(i, [Math.log(from), Math.log(to)]); return by([1 / to, 1 / from]);
      case OP.cos: {
        const isNarrow = Math.floor(from / Math.PI) === Math.floor(to / Math.PI); // no turn inside
        const ends = [Math.cos(from), Math.cos(to)];
        this.keep(i, isNarrow ? [Math.min(...ends), Math.max(...ends)] : [-1, 1]);
        return by(isNarrow ? (Math.sin((from + to) / 2) > 0 ? [-1, 0] : [0, 1]) : [-1, 1]);
      }
      case OP.acos: {
        this.keep(i, [Math.acos(to), Math.acos(from)]);
        const far = Math.max(Math.abs(from), Math.abs(to)), near = from <= 0 && to >= 0 ? 0 : Math.min(Math.abs(from), Math.abs(to));
        return by([-1 / Math.sqrt(1 - far * far), -1 / Math.sqrt(1 - near * near)]);
      }
      case OP.w: this.keep(i, [lambertW(from), lambertW(to)]); return by(this.rateOfW(i));
      case OP.lower_w:
        this.keep(i, [lowerLambertW(to), lowerLambertW(from)]);
        return by(this.rateOfW(i));
      case OP.pow: {
        const ends = [from, to].flatMap((x) => [Math.pow(x, low[q]), Math.pow(x, high[q])]);
        this.keep(i, from > 0 ? [Math.min(...ends), Math.max(...ends)] : [NaN, NaN]);
        const inner = over(this.slow[p], this.steep[p], from, to);
        const rate = times(inner[0], inner[1], low[q], high[q]);
        const still = this.slow[q] === 0 && this.steep[q] === 0;
        return this.slope(i, still ? times(rate[0], rate[1], low[i], high[i]) : [NaN, NaN]);
      }
      default: throw new Error(`no step has the code ${code}`);
    }
  }

  // 1 / (exp(w) (1 + w)) for w in what the step can be.
  rateOfW(i) {
    const below = times(Math.exp(this.low[i]), Math.exp(this.high[i]), 1 + this.low[i], 1 + this.high[i]);
    return over(1, 1, below[0], below[1]);
  }
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
