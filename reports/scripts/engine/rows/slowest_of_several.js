// The row of the slowest of several.

import { meanOfSlowest } from "../slowest.js";

export const slowest = { value: meanOfSlowest };
