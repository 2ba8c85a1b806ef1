// One fork by itself, the longest of branches whose laws are known to all digits: `engine/forks/single_forks.py` tells how.

import { gaussLegendre } from "../numerics/roots.js";
import { gridQuantile } from "./fork_grids.js";
import { panelPoints } from "./laws.js";
import { MOST_COMBINED, singleFork, textOf } from "./phase_counts.js";
import { atOnceOf, isKinked, longerOf, pathsThrough, tailOf } from "./sums.js";

const NOTHING = 1e-14, SAME = 1e-12, NEAR = 1e-3, PARTS = 16, MOST_TURNS = 60, NEXT = 1e-13, BEYOND = 20;
const RULE = gaussLegendre(16);

// The branches of one fork, equal ones once; null where stages are more, or have too many ways.
export function branchesOf(nodes) {
  const alike = new Map();
  for (const node of singleFork(nodes) ?? []) {
    const text = textOf(node), known = alike.get(text);
    if (known) known.count += 1;
    else alike.set(text, branchOf(node));
  }
  const found = [...alike.values()];
  if (!found.length || found.some((one) => !one)) return null;
  return found.reduce((sum, { ways }) => sum + ways, 0) <= 2 * MOST_COMBINED ? found : null;
}

function branchOf(node) {
  const operands = operandsOf(node), mixtures = pathsThrough(operands);
  return mixtures && { operands, count: 1, ways: mixtures.reduce((sum, { paths }) => sum + paths.length, 0), tails: mixtures.map((mixture) => tailOf(mixture, 0)) };
}

function operandsOf({ group, within }) { return [...group, ...within.flatMap(operandsOf)]; }

// Which share takes longer than a time, where about a share `late` does.
export function laterOfFork(branches, time, late) {
  return -Math.expm1(branches.reduce((sum, { count, tails }) => sum + count * Math.log1p(-Math.min(1, Math.max(0, tails.reduce((found, tail) => found + laterOf(tail, time, BEYOND - Math.log(late)), 0)))), 0));
}

// Lines of narrow laws are moved no further than the share that is left asks, by Chernoff's bound.
function laterOf(tail, time, goal) {
  const { mixture, line } = tail, after = time - mixture.fixed;
  if (Math.abs(after) <= SAME * time) return mixture.chance - atOnceOf(mixture);
  if (after < 0 || !line.length) return after < 0 ? mixture.chance : 0;
  const most = isKinked(tail) ? Math.min(goal, Math.max(0, tail.place * (after - tail.high))) : goal;
  return longerOf([{ ...tail, goal: most }], mixture.fixed, after)[0];
}

// The time that a share `level` does not exceed: around that which a grid has it is cut into parts.
export function quantileOfFork(branches, nodes, level) {
  const late = 1 - level, near = gridQuantile(nodes, level);
  if (laterOfFork(branches, 0, late) <= late) return 0;
  let low = near * (1 - NEAR), high = near * (1 + NEAR), first = 1, last = 0, isSmooth = false;
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const times = between(low, high), shares = times.map((time) => laterOfFork(branches, time, late)), behind = shares.filter((share) => share > late).length;
    if (!behind || behind === times.length) { // the grid was not so near
      const reach = high - low;
      [low, high] = behind ? [high, high + 2 * reach] : [Math.max(0, low - 2 * reach), low];
      if (high <= 0) return 0;
      continue;
    }
    [low, high, first, last] = [times[behind - 1], times[behind], shares[behind - 1], shares[behind]];
    isSmooth = last > 0 && first - last < NEAR * first;
    if (isSmooth || high - low <= NEXT * high) break;
  }
  return low + (high - low) * (isSmooth && first > last ? Math.log(first / late) / Math.log(first / last) : 1);
}

function between(low, high) { return Array.from({ length: PARTS + 1 }, (_, k) => low + ((high - low) * k) / PARTS); }

export function meanOfFork(branches) {
  const starts = [0], points = [];
  for (const { operands, tails } of branches) {
    const fixed = tails.map(({ mixture }) => mixture.fixed);
    starts.push(...fixed);
    if (tails.some(({ line }) => line.length)) points.push(...panelPoints(fixed, operands));
  }
  const times = [...new Set([...starts, ...points])].sort((a, b) => a - b), shares = times.map((time) => laterOfFork(branches, time * (1 + NOTHING), NOTHING));
  const rising = times.filter((_, k) => (shares[k + 1] ?? 0) < 1 - NOTHING && (shares[k - 1] ?? 1) > NOTHING);
  if (!rising.length) return times.at(-1);
  let found = rising[0];
  for (let k = 0; k + 1 < rising.length; k++) {
    const half = (rising[k + 1] - rising[k]) / 2;
    for (const [node, weight] of RULE) found += half * weight * laterOfFork(branches, rising[k] + half * (1 + node), NOTHING);
  }
  return found;
}
