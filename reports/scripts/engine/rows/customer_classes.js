// Rows of closed networks of several classes.

import { withBounds } from "../numerics/bounds.js";
import { CLASS_BOUNDS, classNumbers } from "../queueing_networks/multiclass.js";
import { quantileOfMoments } from "../queueing_networks/cycle_time_quantiles.js";
import { erlangC } from "../numerics/erlang.js";
import { normalQuantile } from "../numerics/normal.js";

const ROWS = withBounds(classNumbers(erlangC, quantileOfMoments(normalQuantile)), CLASS_BOUNDS);

export const class_rate = ROWS.class_rate;
export const class_wait = ROWS.class_wait;
export const class_open_wait = ROWS.class_open_wait;
export const class_quantile = ROWS.class_quantile;
