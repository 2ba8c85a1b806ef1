// The mean, quantiles and tail of the time to pass stages of which some are forks: `engine/forks/fork_arrays.py` tells how.

import { fallingRoot } from "../numerics/roots.js";
import { around, furthest, longer, termsOf } from "./fork_tails.js";
import { pathsOf } from "./fork_paths.js";
import { KINKED } from "./sums.js";
import { sorted } from "./time_laws.js";

const BEYOND = 20, CUT = 1e-9, LATE = 1e-9, FURTHEST = 1e300, SAME = 1e-12, NEAR = 1e-6, NEXT_TO = 1e-9;

export function forkMean(...stages) {
  const paths = pathsOf(stages, CUT * LATE);
  if (!Array.isArray(paths)) return paths;
  return paths.reduce((sum, { chance, fixed, factors }) => sum + factors.reduce((found, { mean, mass }) => found + (chance * mean) / (mass || 1), chance * fixed), 0);
}

export function forkTail(time, ...stages) {
  const paths = time === time ? pathsOf(stages, CUT * LATE) : NaN;
  if (!Array.isArray(paths)) return paths === Infinity ? 1 : NaN;
  if (time < 0 || time === Infinity) return time < 0 ? 1 : 0;
  return Math.min(1, Math.max(0, around(paths, Math.min(time, FURTHEST), BEYOND - Math.log(LATE), termsOf(paths))[1]));
}

export function forkQuantile(level, ...stages) {
  const late = 1 - level, paths = level >= 0 && level < 1 ? pathsOf(stages, CUT * late) : NaN;
  if (!Array.isArray(paths)) return paths;
  const goal = -Math.log1p(-level), terms = termsOf(paths);
  const fixed = sorted(paths.map((path) => path.fixed));
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
