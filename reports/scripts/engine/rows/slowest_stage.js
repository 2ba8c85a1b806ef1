// The row of the slowest of several.

import { meanOfSlowest } from "../queueing/maximum.js";

export const slowest = { value: meanOfSlowest };
