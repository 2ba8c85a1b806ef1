// The mean, quantiles and tail of the time to pass stages of which some are forks: `engine/forks/fork_arrays.py` tells how.

import { fallingRoot } from "../numerics/roots.js";
import { around, furthest, longer, termsOf } from "./fork_tails.js";
import { waysOf } from "./fork_ways.js";
import { KINKED } from "./sums.js";
import { sorted } from "./time_laws.js";

const BEYOND = 20, CUT = 1e-9, LATE = 1e-9, FURTHEST = 1e300, SAME = 1e-12, NEAR = 1e-6, NEXT_TO = 1e-9;

export function forkMean(...stages) {
  const ways = waysOf(stages, CUT * LATE);
  if (!Array.isArray(ways)) return ways;
  return ways.reduce((sum, { chance, fixed, factors }) => sum + factors.reduce((found, { mean, mass }) => found + (chance * mean) / (mass || 1), chance * fixed), 0);
}

export function forkTail(time, ...stages) {
  const ways = time === time ? waysOf(stages, CUT * LATE) : NaN;
  if (!Array.isArray(ways)) return ways === Infinity ? 1 : NaN;
  if (time < 0 || time === Infinity) return time < 0 ? 1 : 0;
  return Math.min(1, Math.max(0, around(ways, Math.min(time, FURTHEST), BEYOND - Math.log(LATE), termsOf(ways))[1]));
}

export function forkQuantile(level, ...stages) {
  const late = 1 - level, ways = level >= 0 && level < 1 ? waysOf(stages, CUT * late) : NaN;
  if (!Array.isArray(ways)) return ways;
  const goal = -Math.log1p(-level), terms = termsOf(ways);
  const fixed = sorted(ways.map((way) => way.fixed));
  let first = 0, last = fixed.length, isOn = false;
  while (first < last) {
    const middle = (first + last) >> 1, [before, at] = around(ways, fixed[middle], goal, terms);
    if (at <= late * (1 + SAME)) [last, isOn] = [middle, before > late * (1 - SAME)];
    else first = middle + 1;
  }
  const low = first ? fixed[first - 1] : 0, ahead = first < fixed.length ? fixed[first] : Infinity;
  if (isOn) return ahead;
  const high = Math.min(Math.max(...ways.map((way) => way.fixed + furthest(way, goal))), ahead) - low;
  return low + fallingRoot((time) => {
    const [found, density] = longer(ways, low + time, goal, terms);
    return found > 0 ? [Math.log(found) + goal, -density / found] : [-1, 0];
  }, 0, high, high, terms === KINKED ? NEXT_TO : NEAR);
}
