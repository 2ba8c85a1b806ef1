// The row of sums of stages. It is inverted in floats: smaller steps lose its digits.

import { stagesQuantile, stagesTail } from "../queueing/sums.js";

export const stages_quantile = { value: stagesQuantile, step: 2e-4 };

export const stages_tail = { value: stagesTail, step: 2e-4 };
