// Rows of the normal law.

import { HALF, only, ZERO } from "../numerics/fractions.js";
import { normalQuantile, normalTail } from "../numerics/normal.js";

export const normal_tail = { value: normalTail, exact: only(ZERO, HALF) };
export const normal_quantile = { value: normalQuantile, exact: only(HALF, ZERO) };
