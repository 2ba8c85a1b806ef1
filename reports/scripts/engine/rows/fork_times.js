// The rows of stages with forks. They are summed from inverted transforms: smaller steps lose their digits.

import { forkMean, forkQuantile, forkTail } from "../queueing/forks.js";

export const fork_mean = { value: forkMean, step: 2e-4 };
export const fork_quantile = { value: forkQuantile, step: 2e-4 };
export const fork_tail = { value: forkTail, step: 2e-4 };
