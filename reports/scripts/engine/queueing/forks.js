// The mean, quantiles and tail of the time to pass stages of which some are forks: `engine/forks/fork_arrays.py` tells how.

import { fallingRoot } from "../numerics/roots.js";
import { gridMean, gridQuantile, gridTail } from "./fork_grids.js";
import { nodesOf, NoPathError, pathsOf } from "./fork_paths.js";
import { around, furthest, longer, termsOf } from "./fork_tails.js";
import { havePhases } from "./phase_counts.js";
import { branchesOf, laterOfFork, meanOfFork, quantileOfFork } from "./single_forks.js";
import { KINKED } from "./sums.js";

const BEYOND = 20, LATE = 1e-9, FURTHEST = 1e300, SAME = 1e-12, NEAR = 1e-6, NEXT_TO = 1e-9;

export function forkMean(...stages) {
  return valueOf(stages, {
    byPaths: (paths) => paths.reduce((sum, { chance, fixed, factors }) => sum + factors.reduce((found, { mean, mass }) => found + (chance * mean) / (mass || 1), chance * fixed), 0),
    ofOneFork: meanOfFork,
    onGrid: gridMean,
  });
}

export function forkTail(time, ...stages) {
  const within = (share) => (time < 0 || time === Infinity ? +(time < 0) : Math.min(1, Math.max(0, share(Math.min(time, FURTHEST)))));
  if (time !== time) return NaN;
  return valueOf(stages, {
    byPaths: (paths) => within((at) => around(paths, at, BEYOND - Math.log(LATE), termsOf(paths))[1]),
    ofOneFork: (branches) => within((at) => laterOfFork(branches, at, LATE)),
    onGrid: (nodes) => gridTail(nodes, time),
    endless: 1,
  });
}

export function forkQuantile(level, ...stages) {
  if (!(level >= 0 && level < 1)) return NaN;
  return valueOf(stages, {
    byPaths: (paths) => quantileOfPaths(paths, level),
    ofOneFork: (branches, nodes) => quantileOfFork(branches, nodes, level),
    onGrid: (nodes) => gridQuantile(nodes, level),
  });
}

// By paths where forks are known in phases, from its branches where one stands by itself, and on grids for all others.
function valueOf(stages, { byPaths, ofOneFork, onGrid, endless = Infinity }) {
  const nodes = nodesOf(stages);
  if (!Array.isArray(nodes)) return nodes === Infinity ? endless : NaN;
  try {
    if (havePhases(nodes)) {
      const paths = orNull(() => pathsOf(nodes));
      return paths ? byPaths(paths) : onGrid(nodes);
    }
    const branches = branchesOf(nodes);
    return branches ? ofOneFork(branches, nodes) : onGrid(nodes);
  } catch (error) {
    if (error instanceof NoPathError) return NaN;
    throw error;
  }
}

function orNull(found) {
  try {
    return found();
  } catch (error) {
    if (error instanceof NoPathError) return null;
    throw error;
  }
}

function quantileOfPaths(paths, level) {
  const late = 1 - level, goal = -Math.log1p(-level), terms = termsOf(paths);
  const fixed = [...new Set(paths.map((path) => path.fixed))].sort((a, b) => a - b);
  let first = 0, last = fixed.length, isOn = false;
  while (first < last) {
    const middle = (first + last) >> 1, [before, at] = around(paths, fixed[middle], goal, terms);
    if (at <= late * (1 + SAME)) [last, isOn] = [middle, before > late * (1 - SAME)];
    else first = middle + 1;
  }
  const low = first ? fixed[first - 1] : 0, ahead = first < fixed.length ? fixed[first] : Infinity;
  if (isOn) return ahead;
  const high = Math.min(Math.max(...paths.map((path) => path.fixed + furthest(path, goal))), ahead) - low;
  return low + fallingRoot((time) => {
    const [found, density] = longer(paths, low + time, goal, terms);
    return found > 0 ? [Math.log(found) + goal, -density / found] : [-1, 0];
  }, 0, high, high, terms === KINKED ? NEXT_TO : NEAR);
}
