// Rows of queues with one server: their tails and quantiles.

import { isLess, ONE, ZERO } from "../numerics/fractions.js";
import { batchQuantile, gammaQuantile, md1Quantile, md1Tail, periodicQuantile, periodicTail, sojournQuantile } from "../queueing/queues.js";

export const md1_tail = {
  value: md1Tail,
  exact: (load, time) => {
    if (load[0] < 0n) return null;
    if (!isLess(load, ONE) || time[0] < 0n) return ONE;
    return time[0] === 0n ? load : load[0] === 0n ? ZERO : null;
  },
};

// Where these are fractions, floats are exact.
export const md1_quantile = { value: md1Quantile };
export const batch_quantile = { value: batchQuantile };
export const periodic_tail = { value: periodicTail };
export const periodic_quantile = { value: periodicQuantile };
export const sojourn_quantile = { value: sojournQuantile };
export const gamma_quantile = { value: gammaQuantile };
