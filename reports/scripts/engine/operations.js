// The page's column of the table in `engine/operations.py`, whose law holds it to the others. By its word, what each operation
// does to floats (`value`), how fast that changes with each operand (`slopes`; of what has none differences tell), what it
// does to boxes (`bounds`; of what rises or falls with each operand the table says them), and to fractions (`exact_program`; only
// what is `endless` has values of infinities). What has no value is not-a-number, and null as a fraction.

import { bent, extreme, NOTHING, over, quotientOf, rounded, sorted, times } from "./numerics/bounds.js";
import { floorOf, INFINITE, inverse, isLess, isWhole, less, logarithmOf, ONE, only, plus, powerOf, product, quotient, rootOf, ZERO } from "./numerics/fractions.js";
import { lambert } from "./numerics/lambert.js";
import { placeOf } from "./numerics/operand_groups.js";
import { burst_wait, burst_quantile, uneven } from "./rows/bursty_arrivals.js";
import { closed_rate, closed_cycle, closed_wait, mixed_wait, mixed_room, closed_quantile } from "./rows/closed_networks.js";
import { class_rate, class_wait, class_open_wait, class_quantile } from "./rows/customer_classes.js";
import { room_loss, room_wait, room_traffic, room_quantile } from "./rows/finite_rooms.js";
import { fork_mean, fork_quantile, fork_tail } from "./rows/fork_times.js";
import { forked_rate, forked_time, forked_wait } from "./rows/fork_join_networks.js";
import { md1_tail, md1_quantile, batch_quantile, periodic_tail, periodic_quantile, sojourn_quantile, gamma_quantile } from "./rows/single_servers.js";
import { nested_rate, nested_time, nested_wait } from "./rows/load_dependent_networks.js";
import { normal_tail, normal_quantile } from "./rows/normal_law.js";
import { harmonic, erlang_b, erlang_c, periodic_wait } from "./rows/servers.js";
import { shared_rate, shared_time, shared_wait } from "./rows/multiclass_pools.js";
import { slowest } from "./rows/slowest_stage.js";
import { order_level, order_mean, order_quantile, order_tail } from "./rows/order_statistics.js";
import { stages_quantile, stages_tail } from "./rows/stage_sums.js";
import { unlike_long, unlike_ratio, unlike_share, unlike_short } from "./rows/unlike_services.js";
import { finished } from "../common/slices.js";

export const OPERATIONS = {
  "+": {
    value: (a, b) => a + b, slopes: () => [1, 1],
    bounds({ low, high, slow, steep }, i, p, q) {
      low[i] = low[p] + low[q]; high[i] = high[p] + high[q];
      slow[i] = slow[p] + slow[q]; steep[i] = steep[p] + steep[q];
    },
    exact: plus, endless: true,
  },
  "-": {
    value: (a, b) => a - b, slopes: () => [1, -1],
    bounds({ low, high, slow, steep }, i, p, q) {
      low[i] = low[p] - high[q]; high[i] = high[p] - low[q];
      slow[i] = slow[p] - steep[q]; steep[i] = steep[p] - slow[q];
    },
    exact: less, endless: true,
  },
  "*": {
    value: (a, b) => a * b, slopes: (a, b) => [b, a],
    bounds(boxes, i, p, q) {
      const { low, high, slow, steep } = boxes;
      boxes.keep(i, times(low[p], high[p], low[q], high[q]));
      let found = times(slow[p], steep[p], low[q], high[q]);
      const least = found[0], most = found[1];
      found = times(low[p], high[p], slow[q], steep[q]);
      slow[i] = least + found[0]; steep[i] = most + found[1];
    },
    exact: product, endless: true,
  },
  "/": divided((a, b) => (b === 0 ? NaN : a / b), null),
  ratio: divided((a, b) => (b === 0 && a === a ? Infinity : a / b), INFINITE), // as the language has it: no bound
  mean: divided((a, b) => (b === 0 && a === a ? 0 : a / b), ZERO),
  "^": {
    value: wholePower, slopes: (a, b) => [b * wholePower(a, b - 1), 0],
    bounds(boxes, i, p, q) {
      const { low, high } = boxes, from = low[p], to = high[p], exponent = low[q];
      const isAcross = from < 0 && to > 0;
      if (exponent < 0 && from <= 0 && to >= 0) return boxes.leaveOpen(i);
      boxes.keep(i, sorted([from, to].map((end) => wholePower(end, exponent)), exponent % 2 === 0 && isAcross));
      const rates = [from, to].map((end) => exponent * wholePower(end, exponent - 1));
      return boxes.by(i, p, sorted(rates, exponent % 2 !== 0 && isAcross));
    },
    exact: (p, q) => powerOf(p, quotient(...q)), endless: true,
  },
  pow: {
    value: power,
    slopes: (a, b, value) => [b * Math.pow(a, b - 1), a > 0 ? value * Math.log(a) : 0],
    bounds(boxes, i, p, q) {
      const { low, high, slow, steep } = boxes;
      if (!(low[p] > 0)) return boxes.leaveOpen(i);
      boxes.keep(i, sorted([low[p], high[p]].flatMap((x) => [Math.pow(x, low[q]), Math.pow(x, high[q])])));
      const inner = times(...over(slow[p], steep[p], low[p], high[p]), low[q], high[q]);
      const rates = times(inner[0], inner[1], low[i], high[i]);
      return boxes.slope(i, slow[q] === 0 && steep[q] === 0 ? rates : NOTHING);
    },
    exact: (p, q) => {
      if (p[0] === 0n) return q[0] > 0n ? ZERO : q[0] ? null : ONE;
      const root = isWhole(q) ? p : q[1] <= 64n ? rootOf(p, Number(q[1])) : null;
      return root && powerOf(root, Number(q[0]));
    },
  },
  // work / (1 - load), infinite from load 1 on: it grows with both where the work is not negative.
  waiting: {
    value: waiting,
    slopes: (work, load) => (load < 1 ? [1 / (1 - load), work / ((1 - load) * (1 - load))] : [NaN, NaN]),
    bounds(boxes, i, p, q) {
      const { low, high, slow, steep } = boxes, isShort = high[q] < 1;
      if (low[p] >= 0) boxes.keep(i, [waiting(low[p], low[q]), waiting(high[p], high[q])]);
      else boxes.keep(i, isShort ? over(low[p], high[p], 1 - high[q], 1 - low[q]) : NOTHING);
      if (!isShort) return boxes.slope(i, low[p] >= 0 && slow[p] >= 0 && slow[q] >= 0 ? [0, Infinity] : NOTHING);
      const bend = times(low[i], high[i], slow[q], steep[q]);
      return boxes.slope(i, over(slow[p] + bend[0], steep[p] + bend[1], 1 - high[q], 1 - low[q]));
    },
    exact: (p, q) => (isLess(q, ONE) ? product(p, inverse(less(ONE, q))) : INFINITE), endless: true,
  },
  max: extreme(Math.max, 1),
  min: extreme(Math.min, -1),
  abs: {
    value: Math.abs, slopes: (a) => [Math.sign(a)],
    bounds(boxes, i, p) {
      const { low: { [p]: from }, high: { [p]: to } } = boxes, isAcross = from < 0 && to > 0;
      boxes.keep(i, sorted([Math.abs(from), Math.abs(to)], isAcross));
      boxes.by(i, p, isAcross ? [-1, 1] : from >= 0 ? [1, 1] : [-1, -1]);
    },
    exact: (p) => (p[0] < 0n ? [-p[0], p[1]] : p), endless: true,
  },
  sqrt: bent({ value: Math.sqrt, slopes: (a, b, value) => [0.5 / value], exact: (p) => rootOf(p, 2) }),
  exp: bent({ value: Math.exp, slopes: (a, b, value) => [value], exact: only(ZERO, ONE) }),
  ln: bent({ value: (a) => (a > 0 ? Math.log(a) : NaN), slopes: (a) => [1 / a], exact: only(ONE, ZERO) }, { atEnd: Math.log }),
  w: bent({ value: (a) => lambert(a, 1), slopes: (a, b, value) => [1 / (Math.exp(value) * (1 + value))], exact: only(ZERO, ZERO) }),
  lower_w: bent({
    value: (a) => (a < 0 ? lambert(a, -1) : NaN),
    slopes: (a, b, value) => [-1 / (Math.exp(value) * (-1 - value))], // without end downwards at its branch point
  }, { turn: -2, rate: -Math.exp(2) }),
  acos: bent({ value: Math.acos, slopes: (a) => [-1 / Math.sqrt(1 - a * a)], exact: only(ONE, ZERO) }, { turn: Math.PI / 2, rate: -1 }),
  cos: {
    value: Math.cos, slopes: (a) => [-Math.sin(a)],
    bounds(boxes, i, p) {
      const { low: { [p]: from }, high: { [p]: to } } = boxes, isNarrow = Math.floor(from / Math.PI) === Math.floor(to / Math.PI); // no turn inside
      boxes.keep(i, isNarrow ? sorted([Math.cos(from), Math.cos(to)]) : [-1, 1]);
      boxes.by(i, p, isNarrow ? (Math.sin((from + to) / 2) > 0 ? [-1, 0] : [0, 1]) : [-1, 1]);
    },
    exact: only(ZERO, ONE),
  },
  floor: rounded(Math.floor, [-1, 0], (p) => [floorOf(p), 1n]),
  ceil: rounded(Math.ceil, [0, 1], (p) => [-floorOf([-p[0], p[1]]), 1n]),
  // Of each doubling of cores an efficiency is kept. For one of both it rises or falls with the other, so its ends are at corners.
  effective: {
    value: effective,
    slopes: (a, b, value) => [value / a * (1 + Math.log2(b)), value / b * Math.log2(a)],
    bounds(boxes, i, p, q) {
      const { low, high } = boxes;
      const corners = [low[p], high[p]].flatMap((cores) => [effective(cores, low[q]), effective(cores, high[q])]);
      boxes.keep(i, low[p] > 0 && low[q] > 0 ? [Math.min(...corners), Math.max(...corners)] : NOTHING);
      boxes.slope(i, NOTHING);
    },
    exact: (cores, efficiency) => {
      if (cores[0] <= 0n || efficiency[0] < 0n) return null;
      const doublings = logarithmOf(cores), halvings = efficiency[0] ? logarithmOf(efficiency) : null; // c e^(log2 c) is c c^(log2 e)
      const share = doublings !== null ? powerOf(efficiency, doublings) : halvings !== null ? powerOf(cores, halvings) : null;
      return share && product(cores, share);
    },
  },
  // What a program has no need of is left out of its page (`pages/html_page.py`), and is nothing here.
  burst_wait, burst_quantile, uneven,
  closed_rate, closed_cycle, closed_wait, mixed_wait, mixed_room, closed_quantile,
  class_rate, class_wait, class_open_wait, class_quantile,
  room_loss, room_wait, room_traffic, room_quantile,
  fork_mean, fork_quantile, fork_tail,
  forked_rate, forked_time, forked_wait,
  md1_tail, md1_quantile, batch_quantile, periodic_tail, periodic_quantile, sojourn_quantile, gamma_quantile,
  nested_rate, nested_time, nested_wait,
  normal_tail, normal_quantile,
  harmonic, erlang_b, erlang_c, periodic_wait,
  shared_rate, shared_time, shared_wait,
  slowest,
  stages_quantile, stages_tail,
  unlike_long, unlike_ratio, unlike_share, unlike_short,
  order_level, order_mean, order_quantile, order_tail,
};

function waiting(work, load) { return load >= 1 && work === work ? Infinity : work / (1 - load); }

function effective(cores, efficiency) { return cores > 0 && efficiency >= 0 ? cores * power(efficiency, Math.log2(cores)) : NaN; }

function power(a, b) { return (a === 0 && b < 0) || (a < 0 && !Number.isInteger(b)) ? NaN : a === 1 && b === b ? 1 : Math.pow(a, b); }

// A quotient, and what it is where its divisor vanishes.
function divided(value, atZero) {
  return {
    value,
    slopes: (a, b) => [1 / b, -a / (b * b)],
    bounds: quotientOf,
    exact: (p, q) => (q[0] ? product(p, inverse(q)) : atZero), endless: true,
  };
}

// By operands that count whole, by its law, there is none.
// What `isKnown` says is a constant has a slope that nobody asks for. A function of queues takes long: it waits between its values.
export function slopesOf(word, operands, value, law) { return finished(slopesInSlices(word, OPERATIONS[word].value, operands, value, law, () => false)); }

export function* slopesInSlices(word, numbers, operands, value, law, isKnown) {
  const row = OPERATIONS[word], found = [];
  if (row.slopes) return row.slopes(operands[0], operands[1], value);
  for (const k of operands.keys()) {
    yield;
    found.push(isKnown(k) ? 0 : law?.whole.includes(placeOf(k, law)) ? NaN : difference(row, numbers, operands, k));
  }
  return found;
}

const STENCIL = [[2, -1 / 12], [1, 2 / 3], [-1, -2 / 3], [-2, 1 / 12]];

// A slope by differences of the fourth order.
function difference({ step: part = 1e-5 }, value, operands, k) {
  const step = (Math.abs(operands[k]) || 1) * part;
  return STENCIL.reduce((sum, [steps, weight]) => sum + weight * value(...operands.with(k, operands[k] + steps * step)), 0) / step;
}

// A whole power by multiplication: exact where its factors are, as Math.pow need not be.
function wholePower(base, exponent) {
  if (exponent === 2) return base * base;
  if (exponent < 0) return base === 0 ? NaN : 1 / wholePower(base, -exponent);
  let result = 1;
  for (let rest = exponent, square = base; rest; rest = Math.floor(rest / 2), square *= square) {
    if (rest % 2) result *= square;
  }
  return result;
}
