// The mean of the largest of independent times, as `engine/distributions/maximum_numbers.py` has it.

import { gammaShares } from "../numerics/gamma.js";

const STEP = 0.09, LEAST = -4, MOST = 5.6;
export const NODES = Array.from({ length: Math.floor((MOST - LEAST) / STEP) + 1 }, (_, k) => {
  const x = LEAST + STEP * k, left = Math.exp(-x), node = Math.exp(x - left);
  return [node, STEP * (1 + left) * node];
});

export function meanOfSlowest(...operands) {
  const times = [];
  for (let at = 0; at < operands.length; at += 3) times.push(operands.slice(at, at + 3));
  if (operands.some((one) => !(one >= 0)) || times.some(([, , variation]) => variation === Infinity)) return NaN;
  if (operands.includes(Infinity)) return Infinity;
  const least = Math.max(...times.map(([fixed, mean, variation]) => fixed + (mean && variation ? 0 : mean)));
  const laws = times.filter(([, mean, variation]) => mean && variation);
  if (laws.length === 1 && laws[0][0] >= least) return laws[0][0] + laws[0][1];
  const scale = Math.max(0, ...laws.map(([, mean, variation]) => mean * Math.max(1, variation)));
  let total = 0;
  for (const [node, weight] of laws.length ? NODES : []) {
    let within = 1;
    for (const [fixed, mean, variation] of laws) within *= gammaShares(1 / variation, (least - fixed + scale * node) / variation / mean)[1];
    total += weight * (1 - within);
  }
  return least + scale * total;
}
