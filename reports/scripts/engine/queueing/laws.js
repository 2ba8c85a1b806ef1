// The law of the time to pass stages, asked at many times: `engine/distributions/stage_tails.py` tells how.

import { gaussLegendre } from "../numerics/roots.js";
import { atOnceOf, isKinked, longerOf, tailOf, pathsThrough } from "./sums.js";

const SAME = 1e-12;
export const FEW = gaussLegendre(16); // where laws are summed
export const MANY = gaussLegendre(48); // of narrow ones

// `fixed` are the times that are always the same, each with the share that takes just as long.
export function lawOf(stages, goal) {
  const paths = pathsThrough(stages);
  if (!paths) return null;
  const tails = paths.map((mixture) => tailOf(mixture, goal)), fixed = [];
  for (const path of paths) if (!fixed.length || path.fixed - fixed.at(-1)[0] > SAME * path.fixed) fixed.push([path.fixed, atOnceOf(path)]);
  return { tails, fixed, terms: (tails.find(isKinked) ?? tails[0]).terms };
}

// Which share takes longer than a time, and the density.
export function longer(law, time) {
  const [share, density] = longerOf(law.tails, 0, time);
  return [Math.min(1, Math.max(0, share)), Math.max(0, density)];
}
