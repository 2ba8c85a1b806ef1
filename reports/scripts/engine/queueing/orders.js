// The mean and quantiles of the k-th shortest of n independent times: `engine/distributions/order_numbers.py` and `order_laws.py` tell how.

import { orderDensity, orderLevel, shareOfOrders } from "../numerics/order_levels.js";
import { nodesOf } from "./fork_paths.js";
import { forkQuantile, forkTail } from "./forks.js";
import { FEW, lawOf, longer, MANY, PanelLaw, panelPoints } from "./laws.js";
import { CALLS, havePhases } from "./phase_counts.js";
import { isKinked, stagesQuantile, stagesTail, withoutLaw } from "./sums.js";

const DIGITS = 35, BESIDE = 20, SMALL = 1e-9, NOTHING = 1e-14, MOST_STEPS = 80, NEXT_TO = 1e-11, STAGE = 9;

export function orderMean(answers, spare, ...stages) {
  const refused = Number.isNaN(orderLevel(0.5, answers, spare)) ? NaN : withoutLaw(stages);
  if (refused !== null) return refused;
  const order = orderLawOf(stages, answers, spare);
  if (!order) return NaN;
  if (order.points.length < 2) return order.law.fixed[0][0];
  let total = order.points[0];
  eachNode(order.points, [order.law], (time, weight) => {
    total += weight * missing(order, time);
  });
  return total;
}

export function orderQuantile(level, answers, spare, inside, ...stages) {
  if (!(inside >= 1 && inside <= stages.length)) return NaN;
  const size = STAGE * Math.round(inside), branch = stages.slice(0, size), others = stages.slice(size);
  const known = others.length ? inPhases((calls) => forkQuantile(level, ...calls), answers, spare, inside, stages) : NaN; // where calls take exponential times
  if (!Number.isNaN(known)) return known;
  const alone = stagesQuantile(orderLevel(level, answers, spare), ...branch);
  if (!others.length || !(alone < Infinity)) return alone;
  const refused = withoutLaw(others);
  if (refused !== null) return refused;
  const late = 1 - level, order = orderLawOf(branch, answers, spare), beside = otherTimeOf(others, late);
  if (!order || !beside) return NaN;
  const half = (1 + level) / 2, most = stagesQuantile(orderLevel(half, answers, spare), ...branch);
  const low = Math.max(stagesQuantile(level, ...others) + order.law.fixed[0][0], alone + beside.least);
  return rootOf((time) => Math.log(Math.max(longerWith(order, beside, time), 1e-300) / late), low, stagesQuantile(half, ...others) + most);
}

export function orderTail(time, answers, spare, inside, ...stages) {
  if (Number.isNaN(time) || !(inside >= 1 && inside <= stages.length) || Number.isNaN(orderLevel(0.5, answers, spare))) return NaN;
  const size = STAGE * Math.round(inside), branch = stages.slice(0, size), others = stages.slice(size);
  const known = others.length ? inPhases((calls) => forkTail(time, ...calls), answers, spare, inside, stages) : NaN;
  if (!Number.isNaN(known)) return known;
  const share = stagesTail(time, ...branch), alone = Number.isNaN(share) ? NaN : shareOfOrders(share, answers, spare);
  if (!others.length || Number.isNaN(alone) || alone === 1 || time === Infinity) return alone;
  const rest = stagesTail(time, ...others);
  if (Number.isNaN(rest) || rest === 1) return rest;
  const order = orderLawOf(branch, answers, spare), beside = otherTimeOf(others, Math.max(alone, rest, 1e-13));
  return order && beside ? longerWith(order, beside, time) : NaN;
}

function inPhases(value, answers, spare, inside, stages) {
  const calls = [0, 0, 0, answers, CALLS, 0, spare, 1, Math.round(inside), ...stages], nodes = nodesOf(calls);
  return !Array.isArray(nodes) || havePhases(nodes) ? value(calls) : NaN;
}

// Where a falling function vanishes or jumps over zero: by false position, or by halves.
function rootOf(excess, low, high) {
  let above = excess(low), below = excess(high), stayed = 0;
  if (above <= 0) return low;
  for (let step = 0; step < MOST_STEPS; step++) {
    if (high - low <= NEXT_TO * high || below > 0) break;
    let point = high - (below * (high - low)) / (below - above);
    if (step % 3 === 2 || !(low < point && point < high)) point = (low + high) / 2;
    const value = excess(point);
    if (value === 0) return point;
    if (value > 0) [low, above, below, stayed] = [point, value, stayed > 0 ? below / 2 : below, 1];
    else [high, below, above, stayed] = [point, value, stayed < 0 ? above / 2 : above, -1];
    if (Math.abs(value) <= NEXT_TO) return point;
  }
  return high;
}

function orderLawOf(stages, answers, spare) {
  const law = lawOf(stages, Math.log(answers + spare) + DIGITS);
  if (!law) return null;
  const jumps = law.fixed.map(([time, share]) => {
    const [after] = longer(law, time * (1 + NOTHING));
    return share > 0 ? shareOfOrders(Math.min(1, after + share), answers, spare) - shareOfOrders(after, answers, spare) : 0;
  });
  const order = { law, answers, spare, jumps }, all = pointsOf(law, stages, spare > 0), shares = all.map((time) => missing(order, time));
  const points = all.filter((_, k) => (shares[k + 1] ?? 0) < 1 - NOTHING && (shares[k - 1] ?? 1) > NOTHING);
  return { ...order, points, panels: new PanelLaw(law, points) };
}

function otherTimeOf(stages, late) {
  const law = lawOf(stages, BESIDE - Math.log(late));
  if (!law) return null;
  const all = pointsOf(law, stages), shares = all.map((time) => longer(law, time)[0]);
  const points = all.filter((_, k) => (shares[k + 1] ?? 0) < 1 - SMALL && (shares[k - 1] ?? 1) > SMALL * late);
  return { law, least: law.fixed[0][0], points, panels: new PanelLaw(law, points) };
}

// With which probability answers are missing at a time.
function missing({ law, answers, spare }, time) { return shareOfOrders(longer(law, time)[0], answers, spare); }

// Which share takes longer than a time with an independent one besides.
function longerWith(order, beside, time) {
  const { law, answers, spare, jumps } = order, last = time - beside.least, first = order.points[0] ?? time;
  let found = last > 0 ? missing(order, last) : 1;
  law.fixed.forEach(([at], k) => {
    if (jumps[k] && at <= last) found += jumps[k] * longer(beside.law, time - at)[0];
  });
  if (first >= last) return Math.min(1, found);
  const inner = [...order.points, ...beside.points.map((point) => time - point)].filter((point) => first < point && point < last);
  const points = [...new Set([first, last, ...inner])].sort((a, b) => a - b);
  eachNode(points, [law, beside.law], (at, weight) => {
    const [share, density] = order.panels.at(at);
    if (share > 0 && share < 1 && density > 0) found += weight * orderDensity(share, answers, spare) * density * beside.panels.at(time - at)[0];
  });
  return Math.min(1, found);
}

function pointsOf({ fixed }, stages, hasSpare = false) { return [...new Set(panelPoints(fixed.map(([time]) => time), stages, hasSpare))].sort((a, b) => a - b); }

// Where panels are summed, and with which weights: of narrow laws at more places.
function eachNode(points, laws, add) {
  const rule = laws.some(isKinked) ? MANY : FEW;
  for (let k = 0; k + 1 < points.length; k++) {
    const half = (points[k + 1] - points[k]) / 2, middle = (points[k + 1] + points[k]) / 2;
    for (const [node, weight] of rule) add(middle + half * node, half * weight);
  }
}
