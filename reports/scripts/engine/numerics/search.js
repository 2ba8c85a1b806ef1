// The three questions about a value that changes with the population: at which whole population is
// it first above zero, where, as a real number, does it first reach zero, and where between two. Each is
// asked in slices, too.

import { finished } from "../../common/slices.js";

export const ROUNDING = 1e-11; // of a value's own size: nearer to zero than this, floats do not tell
const MAX_BOXES = 20000;
const FARTHEST = 1e15;
const FARTHEST_OF_QUEUES = 1e9; // beyond this, numbers of queues take too long to be computed

const HUGGING = 1e9; // beyond this, what is so near to zero and below it is an asymptote

// So many boxes did not decide; what is asked for is not below `near`, null where it is not known.
export class Undecided extends Error {
  constructor(near = null) {
    super("undecided");
    this.near = near;
  }
}

// A step of the program as a function of the population, with its bounds.
export class Curve {
  constructor(run, output, size) {
    this.run = run;
    this.output = output;
    this.size = size; // steps whose sizes say what is near to zero
    this.order = run.ordered([output]).moving;
    this.isFixed = !run.program.moving[output];
    this.farthest = run.program.countsQueues(this.order) ? FARTHEST_OF_QUEUES : FARTHEST;
  }

  at(population) {
    const { x, program } = this.run;
    x[0] = population;
    program.run(this.order, x);
    return x[this.output];
  }

  doubt() {
    const { x } = this.run;
    let largest = 1e-300;
    for (const i of this.size) {
      const size = Math.abs(x[i]);
      if (size > largest && size < Infinity) largest = size;
    }
    return ROUNDING * largest;
  }

  // True where the curve lies on zero at a whole population, exactly: floats only come near.
  isOnZero(population) {
    return Number.isInteger(population) && this.run.exactSign(this.output, population) === 0;
  }

  // Bounds over a box; better than the plain ones where the box is small.
  over(low, high) {
    const { boxes } = this.run, i = this.output;
    boxes.run(this.order, low, high);
    const found = { low: boxes.low[i], high: boxes.high[i], slow: boxes.slow[i], steep: boxes.steep[i] };
    if (Number.isFinite(found.slow) && Number.isFinite(found.steep)) {
      const middle = (low + high) / 2, half = (high - low) / 2, value = this.at(middle);
      const reach = half * Math.max(Math.abs(found.slow), Math.abs(found.steep));
      if (value - reach > found.low) found.low = value - reach;
      if (value + reach < found.high) found.high = value + reach;
    }
    if (found.high > 0 && !Number.isFinite(found.steep - found.slow)) this.relax(low, high, found);
    return found;
  }

  // Between its jumps what is rounded up is its argument and a part of one: with any such part the
  // curve has no jumps, and its slope bounds it.
  relax(low, high, found) {
    const { boxes } = this.run, i = this.output;
    const middle = (low + high) / 2, half = (high - low) / 2;
    boxes.run(this.order, low, high, true);
    const reach = half * Math.max(Math.abs(boxes.slow[i]), Math.abs(boxes.steep[i]));
    if (!Number.isFinite(reach)) return;
    boxes.run(this.order, middle, middle, true);
    if (boxes.low[i] - reach > found.low) found.low = boxes.low[i] - reach;
    if (boxes.high[i] + reach < found.high) found.high = boxes.high[i] + reach;
  }

  // True where a curve is that close to zero as it comes nearer and nearer, and never gets there.
  onlyNears(population) {
    return population > HUGGING && this.run.exactSign(this.output, Math.ceil(population)) === -1;
  }

  // True where the curve lies on zero at nine points of a box: a limit that is just kept.
  isFlat(low, high) {
    for (let k = 0; k <= 8; k++) {
      if (!(Math.abs(this.at(low + ((high - low) * k) / 8)) <= this.doubt())) return false;
    }
    return true;
  }
}

// The least whole population in [low, high] at which `fails` is true, null for none.
// `curve` is above zero wherever it fails; `fails` also knows what happens on zero.
export function firstFailure(curve, low, high, fails) { return finished(failingFirst(curve, low, high, fails)); }

export function* failingFirst(curve, low, high, fails) {
  if (curve.isFixed) return fails(low) ? low : null;
  const waiting = [[low, high]];
  for (let turn = 0; waiting.length; turn++) {
    if (turn > MAX_BOXES) throw new Undecided();
    yield;
    const [from, to] = waiting.pop();
    if (from === to) {
      if (fails(from)) return from;
      continue;
    }
    const bounds = curve.over(from, to);
    const near = curve.doubt();
    if (bounds.high < -near) continue;
    if (bounds.low > near && Number.isFinite(bounds.high)) return from;
    if (bounds.slow >= 0) {
      if (!fails(to)) continue;
      return yield* firstOf(fails, from, to);
    }
    if (bounds.steep <= 0) {
      if (fails(from)) return from;
      continue;
    }
    if (curve.isFlat(from, to) && !fails(from) && !fails(to)) continue;
    const middle = between(from, to);
    waiting.push([middle + 1, to], [from, middle]);
  }
  return null;
}

function between(from, to) {
  const middle = from > 0 && to > 4 * from ? Math.sqrt(from * to) : (from + to) / 2;
  return Math.min(to - 1, Math.max(from, Math.floor(middle)));
}

// The first of many whole populations that fails, where all after it fail too.
function* firstOf(fails, from, to) {
  while (from < to) {
    yield;
    const middle = Math.floor((from + to) / 2);
    if (fails(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

// The least real population from `low` on at which the curve is zero or more; null for none. What
// `passes` counts only where it is above zero: what elastic numbers fill stays on its limit by design.
// Where that cannot be told, Undecided with a population up to which it is not.
export function firstCrossing(curve, low, passes) { return finished(reaching(curve, low, passes)); }

export function* reaching(curve, low, passes) {
  if (curve.isFixed) return curve.at(low) >= -curve.doubt() ? low : null;
  const isReached = (at) => {
    const value = curve.at(at), near = curve.doubt();
    return Math.abs(value) <= near ? !passes && curve.isOnZero(at) : !(value < 0);
  };
  if (isReached(low)) return low;
  const budget = { boxes: MAX_BOXES };
  for (let from = low, to = Math.max(2 * low, 2); from < curve.farthest; from = to, to *= 2) {
    const found = yield* crossingIn(curve, from, to, isReached, passes, budget);
    if (found !== null) return found;
  }
  return null;
}

function* crossingIn(curve, low, high, isReached, passes, budget) {
  const waiting = [[low, high]];
  while (waiting.length) {
    const [from, to] = waiting.pop();
    if (--budget.boxes < 0) throw new Undecided(from);
    yield;
    const bounds = curve.over(from, to);
    const near = curve.doubt();
    if (bounds.high < -near || (passes && bounds.high <= near)) continue;
    const isAtMostOn = bounds.high <= near, isNarrow = to - from <= 1e-12 * to;
    const hasValue = !Number.isNaN(curve.at(to)); // floats that overflow may leave none
    if (isNarrow && !hasValue) throw new Undecided(from);
    if (!isAtMostOn && hasValue && (bounds.slow >= 0 || isNarrow)) {
      if (isReached(to)) return yield* passing(curve, from, to, passes);
      const last = Math.floor(to); // where a curve that rises lies on zero, it does so to the end
      if (!passes && last >= from && isReached(last)) return yield* passing(curve, from, last, passes);
      continue;
    }
    if (!isAtMostOn && bounds.steep <= 0 && !isReached(from)) continue;
    if (isAtMostOn && wholeIn(from, to) <= TRIED_TIES || curve.isFlat(from, to)) {
      const tie = passes ? null : firstTie(curve, from, to);
      if (tie !== null) return yield* passing(curve, from, tie, passes);
      if (passes || curve.onlyNears(from)) continue;
      if (isNarrow) throw new Undecided(from); // floats cannot tell whether it touches zero here
    }
    const middle = (from + to) / 2;
    waiting.push([middle, to], [from, middle]);
  }
  return null;
}

const TRIED_TIES = 64;

function wholeIn(from, to) { return Math.floor(to) - Math.ceil(from) + 1; }

// The first whole population of a box at which a curve lies on zero, exactly; null for none. Where
// there are many, a curve that lies on zero all over does so at the first.
function firstTie(curve, from, to) {
  const last = Math.min(Math.floor(to), Math.ceil(from) + TRIED_TIES);
  for (let n = Math.ceil(from); n <= last; n++) {
    if (Math.abs(curve.at(n)) <= curve.doubt() && curve.isOnZero(n)) return n;
  }
  return null;
}

// Where a curve reaches zero between a point that is below it and one that is not.
function* passing(curve, from, to, passes) {
  const start = from, end = to;
  const isOn = (at) => (passes ? !(curve.at(at) <= curve.doubt()) : !(curve.at(at) < -curve.doubt()));
  for (let turn = 0; turn < 200 && to - from > 2e-16 * to; turn++) {
    const middle = (from + to) / 2;
    if (middle === from || middle === to) break;
    yield;
    if (isOn(middle)) to = middle;
    else from = middle;
  }
  const step = Math.max(1e-7 * to, 1e-9);
  return polished(curve, to, passes ? Math.min(end, to + step) : Math.max(start, to - step));
}

// Floats tell "above" a little late, and "on" a little early; one step along the slope makes up for
// that. It is taken on the side where the curve is not on zero: on the other it may stay there.
// What is further from zero has jumped over it, and is where it is.
function polished(curve, to, beside) {
  const here = curve.at(to);
  if (Math.abs(here) > 4 * curve.doubt()) return to;
  const rise = (curve.at(beside) - here) / (beside - to);
  const back = here / rise;
  return Number.isFinite(back) && Math.abs(back) <= 1e-6 * to ? to - back : to;
}

// Where a curve passes zero between two populations, the first that fails and the one before;
// null where it has no value. Where it passes at one of them, floats may lie on either side there.
export function crossing(curve, below, above) { return finished(passingBetween(curve, below, above)); }

export function* passingBetween(curve, below, above) {
  if (Number.isNaN(curve.at(below)) || Number.isNaN(curve.at(above))) return null;
  let low = below, high = above;
  for (let turn = 0; turn < 100 && high - low > 1e-15 * high; turn++) {
    yield;
    const middle = (low + high) / 2;
    if (curve.at(middle) <= 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
