// Times behind forks on a grid of equal steps: `engine/forks/fork_grids.py`, `grid_plans.py` and `grid_times.py` tell how.

import { shareOfOrders } from "../numerics/order_levels.js";
import { NoPathError } from "./fork_paths.js";
import { CALLS, passages } from "./phase_counts.js";
import { less, restOf } from "./sums.js";

const SIZES = [[32, 1024], [96, 512], [512, 256]], LEAST_SIZE = 128, COARSE = 64, FARTHEST = 1 - 1e-5, SAME = 1e-6, FINER = 8, MOST_GRIDS = 12;
const FEW = 3, ENOUGH = 24, WIDER = 4, NEARER = 1 / 16, MOST_TURNS = 60, MOST_FINE = 4, STEADY = 1e-4, ABOUT = 0.05, NOTHING = 1e-12, LOST = 1e-5, LEAST_SPARE = 1e-6;

export function gridTail(nodes, time) {
  if (time < 0 || time === Infinity) return time < 0 ? 1 : 0;
  const plan = planOf(nodes), size = sizeOf(plan);
  return time ? sharesOnGrid(plan, stepOf(time, size), size)[placeOf(size)] : sharesOnGrid(plan, plan.scale * NOTHING, COARSE).at(-1);
}

export function gridQuantile(nodes, level) { return quantileOn(planOf(nodes), level); }

function quantileOn(plan, level) {
  const size = sizeOf(plan), late = 1 - level, steady = plan.owns.length <= SIZES[1][0] ? STEADY : ABOUT;
  let near = nearOf(plan, level);
  for (let turn = 0; turn < MOST_FINE && near > 0; turn++) {
    const step = stepOf(near, size), [place, last] = where(sharesOnGrid(plan, step, size), late);
    const before = near;
    near = place * step;
    if (!(last > late || Math.abs(near - before) > steady * before)) break;
  }
  return near;
}

export function gridMean(nodes) {
  const plan = planOf(nodes), size = sizeOf(plan), fine = size / FINER, sum = (some) => some.reduce((all, one) => all + one, 0);
  const far = Math.max(nearOf(plan, FARTHEST) / plan.scale, NOTHING);
  let step = stepOf(plan.scale * 2 ** Math.ceil(Math.log2(far)), size), shares = sharesOnGrid(plan, step, size), found = 0, first = 0, rest = 0;
  for (let turn = 0; turn < MOST_GRIDS; turn++) {
    first = sum(shares.subarray(0, fine)) * step;
    found += sum(shares.subarray(fine)) * step;
    step /= FINER;
    shares = sharesOnGrid(plan, step, size);
    rest = sum(shares) * step;
    if (Math.abs(rest - first) <= SAME * (found + first)) break;
  }
  return found + rest + (rest - first) / (FINER ** 2 - 1); // errors fall as squares do
}

// About where a quantile is, 0 where it is next to nothing.
function nearOf(plan, level) {
  const late = 1 - level, nothing = plan.scale * NOTHING;
  let horizon = plan.scale * (1 - Math.log(late));
  for (let turn = 0; turn < MOST_TURNS && horizon > nothing; turn++) {
    const step = stepOf(horizon, COARSE), [place, last] = where(sharesOnGrid(plan, step, COARSE), late), isBeyond = last > late, isEarly = place < FEW;
    horizon = isBeyond ? horizon * WIDER : isEarly ? horizon * NEARER : place * step;
    if (!isBeyond && !isEarly && place > ENOUGH) break;
  }
  return horizon > nothing ? horizon : 0;
}

// Behind how many steps no more than a share is left, and the last of the shares.
function where(shares, late) {
  const falling = shares.slice();
  for (let k = 1; k < falling.length; k++) falling[k] = Math.min(falling[k], falling[k - 1]);
  let at = falling.findIndex((share) => !(share > late));
  if (at < 0) at = falling.length - 1;
  const before = at ? falling[at - 1] : 1, part = Math.log(before / late) / Math.log(before / falling[at]);
  return [Math.max(0, at - 0.5 + (part >= 0 && part <= 1 ? part : 1)), falling.at(-1)];
}

const placeOf = (size) => Math.floor((size * 3) / 4);
const stepOf = (time, size) => time / (placeOf(size) + 0.5);
const sizeOf = ({ owns }) => SIZES.find(([most]) => owns.length <= most)?.[1] ?? LEAST_SIZE;

// -- what is worked out, equal parts once

function planOf(nodes) {
  const known = new Map(), places = new Map(), owns = [], forks = [];
  const planned = (node) => {
    const { group, works, isFork, often } = node, inside = node.inside.map(planned), key = `${group.join()}|${works.map(({ group: one }) => one.join()).join(";")}|${inside.map(({ id }) => id).join()}`;
    if (known.has(key)) return known.get(key);
    const isCalls = group[4] === CALLS, isAny = isFork || isCalls;
    if (isAny && works.length) throw new NoPathError();
    const [whole, share] = passages(often), [, , , , , service, variation] = group, counts = new Map();
    if (isFork) for (const one of inside) counts.set(one, (counts.get(one) ?? 0) + 1);
    const found = { id: known.size, own: ownOf(group, works), fixed: service > 0 && !variation ? service : 0, whole, share, chance: often, inside: isFork ? [...counts.keys()] : isCalls ? inOne(inside) : inside, counts: isCalls ? [group[3]] : [...counts.values()], spare: isCalls ? group[6] : 0, isFork: isAny, left: group[8] < 0 ? Math.max(0, 1 - inside.reduce((sum, { chance }) => sum + chance, 0)) : null, scale: scaleOf(group, works, inside) };
    known.set(key, found);
    if (isAny && inside.length) forks.push(found);
    return found;
  };
  const ownOf = (group, works) => {
    const [, , , , servers, service, variation] = group, groups = [group, ...works.map((one) => one.group)], isLate = groups.some(([waits, , work]) => waits > 0 && work > 0), isVaried = service > 0 && variation > 0;
    if (!isLate && !isVaried) return -1;
    const key = `${isLate ? groups.map((one) => one.slice(0, 5).join()).join(";") : ""}|${isVaried ? [service, variation].join() : ""}`;
    if (!places.has(key)) {
      places.set(key, owns.length);
      const parts = isLate ? groups.map(([waits, load, work, spread]) => ({ waits: Math.min(1, waits), load, work: work / servers, spread })) : [];
      owns.push({ parts, waiting: Math.min(1, parts.reduce((sum, { waits }) => sum + waits, 0)), spare: 1 - parts.reduce((sum, { load }) => sum + load, 0), service: isVaried ? service : 0, variation });
    }
    return places.get(key);
  };
  const line = nodes.map(planned);
  return { line, owns, forks, scale: line.reduce((sum, { scale }) => sum + scale, 0) || 1 };
}

// The nodes of a call as one: all calls have that law, of which orders are.
function inOne(inside) {
  if (inside.length < 2) return inside;
  return [{ id: inside.map(({ id }) => id).join(), own: -1, fixed: 0, whole: 1, share: 0, chance: 1, inside, counts: [], spare: 0, isFork: false, left: null, scale: inside.reduce((sum, { scale }) => sum + scale, 0) }];
}

// About how long a node takes.
function scaleOf(group, works, inside) {
  const [, , , , servers, service, , often] = group, each = inside.map(({ scale }) => scale);
  if (servers <= 0) return Math.max(0, ...each) * (1 + Math.log((servers === CALLS ? group[3] : each.length) || 1) / 2) * often;
  let spare = 1, waiting = 0;
  for (const [waits, load, work, spread] of [group, ...works.map((one) => one.group)]) {
    spare -= load;
    waiting += waits * work * (1 + spread);
  }
  return (service + waiting / (2 * servers * Math.max(spare, LEAST_SPARE)) + each.reduce((sum, one) => sum + one, 0)) * often;
}

// -- generating functions at points of a circle

const circles = new Map(), out = new Float64Array(2);

function circleOf(size) {
  if (circles.has(size)) return circles.get(size);
  const radius = LOST ** (1 / size), count = size / 2 + 1, made = { size, count, re: new Float64Array(count), im: new Float64Array(count), falls: Float64Array.from({ length: size }, (_, n) => radius ** n), cos: new Float64Array(size), sin: new Float64Array(size), back: backwards(size), s: [new Float64Array(count), new Float64Array(count)] };
  for (let k = 0; k < size; k++) {
    made.cos[k] = Math.cos((2 * Math.PI * k) / size);
    made.sin[k] = Math.sin((2 * Math.PI * k) / size);
  }
  for (let k = 0; k < count; k++) {
    const x = (made.re[k] = radius * made.cos[k]), y = (made.im[k] = -radius * made.sin[k]);
    made.s[0][k] = ((1 - x) * (3 - x) - y * y) / 2; // (1 - z) (3 - z)/2
    made.s[1][k] = (-y * (3 - x) - y * (1 - x)) / 2;
  }
  circles.set(size, made);
  return made;
}

const blank = (count) => ({ re: new Float64Array(count), im: new Float64Array(count) });

function ones(count) {
  const found = blank(count);
  found.re.fill(1);
  return found;
}

// The product of two functions, into the first.
function multiply(into, { re, im }) {
  for (let k = 0; k < re.length; k++) {
    const a = into.re[k] * re[k] - into.im[k] * im[k];
    into.im[k] = into.re[k] * im[k] + into.im[k] * re[k];
    into.re[k] = a;
  }
  return into;
}

// Which shares take longer than so many steps, and half a one.
function sharesOnGrid(plan, step, size) {
  const circle = circleOf(size), owns = plan.owns.map((own) => ownFunction(own, circle, step)), known = new Map(), done = new Map();
  const line = (nodes) => nodes.reduce((found, node) => multiply(found, ofNode(node)), ones(circle.count));
  const ofNode = (node) => {
    if (!known.has(node.id)) known.set(node.id, passed(node, once(node), circle.count));
    return known.get(node.id);
  };
  const once = (node) => {
    const found = node.own < 0 ? ones(circle.count) : { re: owns[node.own].re.slice(), im: owns[node.own].im.slice() };
    if (node.fixed) multiply(found, laterBy(node.fixed / step, circle));
    if (node.isFork) return node.inside.length ? multiply(found, done.get(node.id)) : found;
    return node.left === null ? multiply(found, line(node.inside)) : multiply(found, choice(node));
  };
  const choice = ({ left, inside }) => {
    const found = blank(circle.count);
    found.re.fill(left);
    for (const one of inside) {
      if (!(one.chance > 0)) continue;
      const { re, im } = once(one);
      for (let k = 0; k < circle.count; k++) {
        found.re[k] += one.chance * re[k];
        found.im[k] += one.chance * im[k];
      }
    }
    return found;
  };
  for (const fork of plan.forks) { // inner ones come first
    if (fork.spare) {
      done.set(fork.id, functionOf(laterShares(ofNode(fork.inside[0]), circle).map((share) => shareOfOrders(share, fork.counts[0], fork.spare)), circle));
      continue;
    }
    const logarithms = new Float64Array(size);
    fork.inside.forEach((one, at) => {
      const shares = laterShares(ofNode(one), circle);
      for (let n = 0; n < size; n++) logarithms[n] += fork.counts[at] * Math.log1p(-shares[n]);
    });
    done.set(fork.id, functionOf(logarithms.map((one) => -Math.expm1(one)), circle));
  }
  return laterShares(line(plan.line), circle);
}

// A function as often as its node is passed.
function passed({ whole, share }, once, count) {
  if (whole === 1 && !share) return once;
  const found = ones(count), power = { re: once.re.slice(), im: once.im.slice() };
  for (let left = whole; left; left = Math.floor(left / 2)) {
    if (left % 2) multiply(found, power);
    if (left > 1) multiply(power, { re: power.re.slice(), im: power.im.slice() });
  }
  return share ? multiply(found, { re: once.re.map((one) => 1 - share + share * one), im: once.im.map((one) => share * one) }) : found;
}

// What is always so many steps is some of the two next to it.
function laterBy(steps, { size, count, re, im, cos, sin }) {
  const whole = Math.floor(steps), rest = steps - whole, found = blank(count);
  if (!(whole < size)) return found;
  const far = LOST ** (whole / size);
  for (let k = 0; k < count; k++) {
    const at = (k * whole) % size, a = far * cos[at], b = -far * sin[at], c = 1 - rest + rest * re[k], d = rest * im[k];
    found.re[k] = a * c - b * d;
    found.im[k] = a * d + b * c;
  }
  return found;
}

// E exp(-s T) of a wait and a service that vary.
function ownFunction({ parts, waiting, spare, service, variation }, { count, s }, step) {
  const found = blank(count);
  for (let k = 0; k < count; k++) {
    const re = s[0][k] / step, im = s[1][k] / step;
    let a = 1, b = 0;
    if (parts.length) {
      let above = 0, aside = 0, c = spare, d = 0;
      for (const { waits, load, work, spread } of parts) {
        restOf(re * work, im * work, spread, out);
        above += waits * (1 - out[0]);
        aside -= waits * out[1];
        c += load * out[0];
        d += load * out[1];
      }
      const size = (c * c + d * d) / spare;
      a = 1 - waiting + (above * c + aside * d) / size;
      b = (aside * c - above * d) / size;
    }
    if (service) {
      less(re * service, im * service, variation, out);
      const real = a + a * out[0] - b * out[1];
      b += a * out[1] + b * out[0];
      a = real;
    }
    found.re[k] = a;
    found.im[k] = b;
  }
  return found;
}

// -- fast transforms

// Shares behind weights, of their function W: (1 - W)/(1 - z).
function laterShares({ re, im }, circle) {
  const { size, count, falls } = circle, found = { re: new Float64Array(size), im: new Float64Array(size) };
  for (let k = 0; k < count; k++) {
    const a = 1 - re[k], b = -im[k], c = 1 - circle.re[k], d = -circle.im[k], by = c * c + d * d;
    found.re[k] = (a * c + b * d) / by;
    found.im[k] = k && k < count - 1 ? (b * c - a * d) / by : 0;
    if (k && k < count - 1) {
      found.re[size - k] = found.re[k];
      found.im[size - k] = -found.im[k];
    }
  }
  transform(found, circle, 1);
  return found.re.map((one, n) => Math.min(1, Math.max(0, one / size / falls[n])));
}

// The function that has those shares behind its weights.
function functionOf(shares, circle) {
  const { size, count, falls } = circle, made = { re: shares.map((one, n) => one * falls[n]), im: new Float64Array(size) }, found = blank(count);
  transform(made, circle, -1);
  for (let k = 0; k < count; k++) {
    const c = 1 - circle.re[k], d = -circle.im[k];
    found.re[k] = 1 - (made.re[k] * c - made.im[k] * d);
    found.im[k] = -(made.re[k] * d + made.im[k] * c);
  }
  return found;
}

function backwards(size) {
  const found = new Uint32Array(size);
  for (let k = 1; k < size; k++) found[k] = (found[k >> 1] >> 1) | (k & 1 ? size >> 1 : 0);
  return found;
}

// The sums of each with exp(sign 2 pi i k n/size), in place (Cooley and Tukey).
function transform({ re, im }, { size, cos, sin, back }, sign) {
  for (let k = 0; k < size; k++) {
    const to = back[k];
    if (to > k) [re[k], re[to], im[k], im[to]] = [re[to], re[k], im[to], im[k]];
  }
  for (let half = 1; half < size; half *= 2) {
    const turn = size / (2 * half);
    for (let begin = 0; begin < size; begin += 2 * half) {
      for (let k = 0; k < half; k++) {
        const c = cos[k * turn], d = sign * sin[k * turn], at = begin + k, to = at + half, a = re[to] * c - im[to] * d, b = re[to] * d + im[to] * c;
        re[to] = re[at] - a;
        im[to] = im[at] - b;
        re[at] += a;
        im[at] += b;
      }
    }
  }
}
