// The law of a time as polynomials on panels: `engine/forks/time_laws.py` tells how.

import { FEW, lawOf, longer, MANY } from "./laws.js";
import { isKinked } from "./sums.js";

const OPERANDS = 9, LEAST_SHARE = 1e-13, NOTHING = 1e-14, SAME = 1e-12, SMALL = 1e-9, NARROW = 0.2, KINKS = 3, LEAST_POWER = -36, MOST_POWER = 36, FINER = -8;
const AT_ONCE = 1e-60; // just behind 0

// A time just behind another one.
export function behind(time) { return Math.max(time * (1 + NOTHING), AT_ONCE); }

export function sorted(times) { return [...new Set(times)].sort((a, b) => a - b); }

// `atoms` are what it is for sure with some chance, and that; `read` says which share takes longer than a time, and the density of what varies.
function timeLaw({ atoms, read, points, least, isNarrow = false }) {
  const left = 1 - atoms.reduce((sum, [, share]) => sum + share, 0);
  return { atoms, read, points, least, isNarrow, varies: left > LEAST_SHARE ? left : 0 };
}

function always(time) {
  return timeLaw({ atoms: [[time, 1]], read: (at) => [at < time ? 1 : 0, 0], points: [], least: time });
}

// The law of the time to pass stages, null where these have too many ways. What takes longer than a share `cut` of all is not read.
export function lawOfStages(stages, goal, cut) {
  if (!stages.length) return always(0);
  const law = lawOf(stages, goal);
  if (!law) return null;
  const starts = law.fixed.map(([time]) => time), isVaried = law.tails.some(({ line }) => line.length);
  const atoms = law.fixed.map(([at, share]) => [at, atomOf(law, at, share)]).filter(([, share]) => share > 0);
  return moving({ atoms, read: (time) => longerOf(law, time), points: isVaried ? pointsOf(starts, stages) : [], least: starts[0], isNarrow: law.tails.some(isKinked) }, cut);
}

// Lines of narrow laws are moved no further than the share that is left asks, by Chernoff's bound.
function longerOf(law, time) {
  if (!law.tails.some(isKinked)) return longer(law, time);
  const tails = law.tails.map((tail) => (tail.line.length ? { ...tail, goal: Math.min(tail.goal, Math.max(0, tail.place * (time - tail.mixture.fixed - tail.high) + tail.goal)) } : tail));
  return longer({ ...law, tails }, time);
}

function atomOf(law, at, share) {
  if (at > 0) return share > LEAST_SHARE ? share : 0;
  const found = 1 - longer(law, behind(at))[0];
  return found > SMALL ? found : 0;
}

// Points at which panels begin: by powers from each time at which a law does (`engine/distributions/order_laws.py`), and where it has kinks.
function pointsOf(starts, stages) {
  const groups = Array.from({ length: stages.length / OPERANDS }, (_, k) => stages.slice(k * OPERANDS, (k + 1) * OPERANDS));
  const times = groups.flatMap(([, , work, , , service]) => [work, service]).filter((time) => time), scale = times.reduce((sum, time) => sum + time, 0) || 1;
  const varies = Math.max(...groups.map(([, , , spread, , , variation]) => Math.max(spread, variation))), most = Math.max(1, ...groups.map(([, , , , servers]) => servers));
  const shortest = (times.length ? Math.min(...times) : 1) / (scale * most), finest = varies <= 1 ? Math.max(LEAST_POWER, Math.floor(Math.log2(shortest)) + FINER) : LEAST_POWER;
  const found = [...starts];
  for (const start of starts) {
    for (let power = finest; power < MOST_POWER; power++) found.push(start + scale * 2 ** power);
    for (const [waits, , work, spread, servers] of groups) {
      if (waits && work && spread < NARROW) for (let k = 1; k <= KINKS; k++) found.push(start + (k * work) / (servers || 1));
    }
  }
  return sorted(found);
}

// A law with those of its points between which it moves, but for a share `cut`.
export function moving(stated, cut) {
  const { atoms, read, points } = stated, last = atoms.at(-1)?.[0] ?? 0, shares = points.map((time) => read(behind(time))[0]);
  const isRetained = points.map((time, k) => (shares[k + 1] ?? 0) < 1 - NOTHING && ((shares[k - 1] ?? 1) > cut || time <= last));
  return timeLaw({ ...stated, points: points.filter((_, k) => isRetained[k]) });
}

// Which share is longer than a time, of what is so for sure.
function atomsBeyond({ atoms }, time) { return atoms.reduce((sum, [at, share]) => sum + (time < at * (1 - SAME) ? share : 0), 0); }

// Which share varies and takes longer than a time, and its density.
export function varying(law, time) {
  const { points, varies } = law, last = points.length - 2;
  if (time <= points[0] && time < points[0]) return [varies, 0];
  if (time >= points[last + 1]) return [0, 0];
  let low = 0, high = last;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (points[middle] <= time) low = middle;
    else high = middle - 1;
  }
  const [begin, end] = [points[low], points[low + 1]], place = (2 * time - begin - end) / (end - begin), [shares, densities] = panelOf(law, low);
  return [time <= points[0] ? varies : polynomial(shares, place), polynomial(densities, place)];
}

function directly(law, time) {
  const [share, density] = law.read(time);
  return [share - atomsBeyond(law, time), density];
}

function ruleOf(isNarrow) { return isNarrow ? MANY : FEW; }

// What varies on a panel, as coefficients of Legendre's polynomials: they are made when they are first asked for.
function panelOf(law, k) {
  law.panels ??= [];
  return (law.panels[k] ??= coefficientsOf(law, law.points[k], law.points[k + 1]));
}

function coefficientsOf(law, begin, end) {
  const rule = ruleOf(law.isNarrow), found = [new Float64Array(rule.length), new Float64Array(rule.length)];
  for (const [node, weight] of rule) {
    const values = directly(law, begin + ((end - begin) / 2) * (1 + node));
    for (let order = 0, last = 0, basis = 1; order < rule.length; order++) {
      found[0][order] += values[0] * basis * weight * (order + 0.5);
      found[1][order] += values[1] * basis * weight * (order + 0.5);
      [last, basis] = [basis, ((2 * order + 1) * node * basis - order * last) / (order + 1)];
    }
  }
  return found;
}

// The sum of Legendre's polynomials, by Clenshaw's recurrence.
function polynomial(coefficients, x) {
  let one = 0, two = 0;
  for (let order = coefficients.length - 1; order > 0; order--) [one, two] = [coefficients[order] + ((2 * order + 1) / (order + 1)) * x * one - ((order + 1) / (order + 2)) * two, one];
  return coefficients[0] + x * one - two / 2;
}

// Where panels are summed, and with which weights.
export function eachNode(points, isNarrow, add) {
  const rule = ruleOf(isNarrow);
  for (let k = 0; k + 1 < points.length; k++) {
    const half = (points[k + 1] - points[k]) / 2;
    for (const [node, weight] of rule) add(points[k] + half * (1 + node), half * weight);
  }
}
