// What is full, and meant to be: elastic streams take what a resource has left, and give way: `reports/text/giving_way.py`.

import { phrase } from "../../common/phrases.js";

export const IS_ELASTIC = phrase("elastic.saturated");

const ROUNDINGS = 1e-9;

// Whether a resource is so at the population at which the run stands.
export function isElasticallyFilled(run, { name, load, target, isFilled }) {
  if (!isFilled || !(Math.abs(run.value(load) / run.value(target) - 1) <= ROUNDINGS)) return false;
  return run.graph.elastic.some((one) => one.atMost.some(([of]) => of === name) && run.value(one.value) > run.value(one.least) * (1 + ROUNDINGS));
}
