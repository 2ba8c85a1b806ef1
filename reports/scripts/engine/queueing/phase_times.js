// Times that are passed in exponential phases: `engine/forks/phase_times.py` tells how. `starts` are the chances to begin in each phase, `done` that it is over at once; `moves` of a phase lead to others, beyond the last to the end, each at a rate.

const TERMS = 12, STEP = 0.25;
const out = new Float64Array(2); // both parts of the complex number that was found last

export function phases(starts, moves, done) {
  return { starts, moves, done, rates: moves.map((some) => sumOf(some.map(([, rate]) => rate))) };
}

const sumOf = (numbers) => numbers.reduce((sum, one) => sum + one, 0);

export function massOf({ starts, done }) { return sumOf(starts) + done; }

export function atOnceBy(mass) { return phases([], [], mass); }

export function onePhase(rate, start = 1) { return phases([start], [[[1, rate]]], 1 - start); }

export function nearestOf({ rates }) { return Math.min(...rates); }

// E exp(-s T) at s = re + i im, into `into`.
export function transformInto(time, re, im, into = out) {
  const { starts, moves, done, rates } = time, last = moves.length;
  const x = (time.x ??= new Float64Array(last + 1)), y = (time.y ??= new Float64Array(last + 1));
  let a = done, b = 0;
  x[last] = 1;
  for (let j = last - 1; j >= 0; j--) {
    let c = 0, d = 0;
    for (const [to, rate] of moves[j]) {
      c += rate * x[to];
      d += rate * y[to];
    }
    const below = re + rates[j], size = below * below + im * im;
    x[j] = (c * below + d * im) / size;
    y[j] = (d * below - c * im) / size;
    a += starts[j] * x[j];
    b += starts[j] * y[j];
  }
  into[0] = a;
  into[1] = b;
}

// The mean, times the chance that the time is taken.
export function meanOfPhases({ starts, moves, rates }) {
  const last = moves.length, found = new Float64Array(last + 1);
  for (let j = last - 1; j >= 0; j--) found[j] = moves[j].reduce((sum, [to, rate]) => sum + rate * found[to], 1) / rates[j];
  return starts.reduce((sum, start, j) => sum + start * found[j], 0);
}

function by(time, chance) { return { ...time, starts: time.starts.map((start) => start * chance), done: time.done * chance, x: undefined, y: undefined }; }

// One time after the other.
export function both(one, other) {
  if (!one.moves.length) return by(other, one.done);
  if (!other.moves.length) return by(one, other.done);
  const many = one.moves.length, end = many + other.moves.length, mass = massOf(other), then = by(other, 1 / (mass || 1));
  const moves = one.moves.map((some) => some.flatMap(([to, rate]) => (to < many ? [[to, rate]] : [...then.starts.map((start, k) => [many + k, rate * start]), [end, rate * then.done]])));
  const more = then.moves.map((some) => some.map(([to, rate]) => [many + to, rate]));
  return phases([...one.starts.map((start) => start * mass), ...then.starts.map((start) => one.done * start * mass)], [...moves, ...more], one.done * then.done * mass);
}

// One of some times, each by its chance.
export function mixed(times) {
  const end = sumOf(times.map(({ moves }) => moves.length)), moves = [];
  for (const one of times) {
    const before = moves.length, many = one.moves.length;
    moves.push(...one.moves.map((some) => some.map(([to, rate]) => [to === many ? end : before + to, rate])));
  }
  return phases(times.flatMap(({ starts }) => starts), moves, sumOf(times.map(({ done }) => done)));
}

export function phasesOfLongest(times) { return times.reduce((found, { moves }) => found * (moves.length + 1), 1) - 1; }

// The longest of independent times: a phase is one of each, or that it has ended.
export function longest(times) {
  const ends = times.map(({ moves }) => moves.length), all = phasesOfLongest(times), sizes = ends.map(() => 1);
  for (let k = ends.length - 2; k >= 0; k--) sizes[k] = sizes[k + 1] * (ends[k + 1] + 1);
  const begins = times.map(({ starts, done }) => [...starts, done]), starts = [], moves = [];
  for (let place = 0; place < all; place++) {
    const at = sizes.map((size, k) => Math.floor(place / size) % (ends[k] + 1));
    starts.push(at.reduce((found, one, k) => found * begins[k][one], 1));
    moves.push(times.flatMap((one, k) => (at[k] < ends[k] ? one.moves[at[k]].map(([to, rate]) => [place + (to - at[k]) * sizes[k], rate]) : [])));
  }
  return phases(starts, moves, times.reduce((found, { done }) => found * done, 1));
}

// What is left of a time when some of it is over.
export function leftOf(time, after) {
  const { starts, moves, done, rates } = time, many = moves.length;
  if (!many || !after) return time;
  const fastest = Math.max(...rates), halves = Math.max(0, Math.ceil(Math.log2(Math.max(1e-300, (fastest * after) / STEP)))), step = after / 2 ** halves;
  const square = (value) => Array.from({ length: many + 1 }, (_, j) => Array.from({ length: many + 1 }, (_none, k) => value(j, k)));
  const product = (a, b, size) => square((j, k) => sumOf(a[j].map((one, l) => one * b[l][k])) / size);
  const there = square((j, k) => (j === k ? (fastest - (j < many ? rates[j] : 0)) * step : 0));
  moves.forEach((some, j) => some.forEach(([to, rate]) => { there[j][to] += rate * step; }));
  let term = square((j, k) => (j === k ? 1 : 0)), moved = term;
  for (let k = 1; k < TERMS; k++) {
    term = product(term, there, k);
    const more = term, sum = moved;
    moved = square((j, l) => sum[j][l] + more[j][l]);
  }
  const once = moved;
  moved = square((j, k) => once[j][k] * Math.exp(-fastest * step));
  for (let k = 0; k < halves; k++) moved = product(moved, moved, 1);
  const begin = [...starts, done], now = begin.map((_, k) => sumOf(begin.map((one, j) => one * moved[j][k])));
  return phases(now.slice(0, many), moves, now[many]);
}
