// Rows of closed networks of several classes with pools.

import { withBounds } from "../numerics/bounds.js";
import { SHARED_BOUNDS, sharedNumbers } from "../queueing_networks/multiclass_load_dependent.js";
import { erlangC } from "../numerics/erlang.js";

const ROWS = withBounds(sharedNumbers(erlangC), SHARED_BOUNDS);

export const shared_rate = ROWS.shared_rate;
export const shared_time = ROWS.shared_time;
export const shared_wait = ROWS.shared_wait;
