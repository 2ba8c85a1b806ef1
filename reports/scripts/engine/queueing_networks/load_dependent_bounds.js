// Bounds of the rates, times and waits of closed networks with load-dependent stations in a box (`engine/evaluators/load_dependent_bounds.py`).

import { atPointElse, widened } from "../numerics/bounds.js";
import { GROUP, placesOf, SPEED } from "./load_dependent_operands.js";

// Which rates, times and waits there are in a box (`engine/evaluators/load_dependent_bounds.py`).
export const NESTED_BOUNDS = {
  nested_rate: bounded(2, (value, lows, highs) => {
    const grows = movesOf(lows, highs);
    if (grows.some((one, k) => !one && lows[k] !== highs[k])) return [0, lows[1] ? highs[0] / lows[1] : Infinity];
    return [value(...lows.map((low, k) => (grows[k] < 0 ? highs[k] : low))), value(...highs.map((high, k) => (grows[k] < 0 ? lows[k] : high)))];
  }),
  nested_time: bounded(3, () => [0, Infinity]),
  nested_wait: bounded(3, () => [0, Infinity]),
};

// How a rate moves with each of its operands in a box: up (1), down (-1), or either (0).
function movesOf(lows, highs) {
  const found = [1, -1];
  let uneven = 0, speed = 0;
  for (let k = 2; k < lows.length; k += GROUP) {
    const [kind, , servers] = lows.slice(k, k + GROUP), [, , fastest, variation, copies] = highs.slice(k, k + GROUP);
    if (kind === SPEED && speed > servers) return lows.map(() => 0);
    speed = fastest;
    const isUneven = kind > 0 && copies > 1 && !(variation === 1 && lows[k + 3] === 1);
    if (isUneven && variation > 1) uneven = Math.max(uneven, k + GROUP * (1 + kind));
    found.push(...(k < uneven ? [0, 0, 0, 0, 0] : [0, -1, isUneven ? 0 : 1, -1, 1]));
  }
  return found;
}

function bounded(before, ends) {
  return atPointElse((value, lows, highs) => {
    if (lows.some((low, k) => k >= before && ((k - before) % GROUP ? !(low >= 0 && highs[k] < Infinity) : low !== highs[k]))) return null;
    if (!(lows[before - 2] >= 0 && lows[before - 1] >= 0) || !placesOf(lows.slice(before)) || !placesOf(highs.slice(before))) return null;
    return widened(...ends(value, lows, highs));
  });
}
