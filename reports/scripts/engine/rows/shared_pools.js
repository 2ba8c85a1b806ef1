// Rows of closed networks of several classes with pools.

import { withBounds } from "../bounds.js";
import { SHARED_BOUNDS, sharedNumbers } from "../shared.js";
import { erlangC } from "../erlang.js";

const ROWS = withBounds(sharedNumbers(erlangC), SHARED_BOUNDS);

export const shared_rate = ROWS.shared_rate;
export const shared_time = ROWS.shared_time;
export const shared_wait = ROWS.shared_wait;
