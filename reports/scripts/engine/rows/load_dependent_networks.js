// Rows of closed networks with pools.

import { withBounds } from "../numerics/bounds.js";
import { nestedNumbers } from "../queueing_networks/load_dependent.js";
import { NESTED_BOUNDS } from "../queueing_networks/load_dependent_bounds.js";
import { erlangC } from "../numerics/erlang.js";

const ROWS = withBounds(nestedNumbers(erlangC), NESTED_BOUNDS);

export const nested_rate = ROWS.nested_rate;
export const nested_time = ROWS.nested_time;
export const nested_wait = ROWS.nested_wait;
