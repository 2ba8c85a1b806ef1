// Rows of closed networks with calls made together.

import { withBounds } from "../numerics/bounds.js";
import { FORKED_BOUNDS, forkedNumbers } from "../queueing_networks/fork_join.js";
import { erlangC } from "../numerics/erlang.js";

const ROWS = withBounds(forkedNumbers(erlangC), FORKED_BOUNDS);

export const forked_rate = ROWS.forked_rate;
export const forked_time = ROWS.forked_time;
export const forked_wait = ROWS.forked_wait;
