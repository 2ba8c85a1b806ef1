// Rows of closed networks of several classes.

import { withBounds } from "../bounds.js";
import { CLASS_BOUNDS, classNumbers } from "../classes.js";
import { quantileOfMoments } from "../closed_quantiles.js";
import { erlangC } from "../erlang.js";
import { normalQuantile } from "../normal.js";

const ROWS = withBounds(classNumbers(erlangC, quantileOfMoments(normalQuantile)), CLASS_BOUNDS);

export const class_rate = ROWS.class_rate;
export const class_wait = ROWS.class_wait;
export const class_open_wait = ROWS.class_open_wait;
export const class_quantile = ROWS.class_quantile;
