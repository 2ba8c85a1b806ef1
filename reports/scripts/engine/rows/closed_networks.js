// Rows of closed networks of one class.

import { closedNumbers, closedWaits } from "../queueing_networks/product_form.js";
import { closedQuantile, quantileOfMoments } from "../queueing_networks/cycle_time_quantiles.js";
import { erlangC } from "../numerics/erlang.js";
import { normalQuantile } from "../numerics/normal.js";

const NUMBERS = closedNumbers(erlangC);

export const closed_rate = { value: NUMBERS.closed_rate };
export const closed_cycle = { value: NUMBERS.closed_cycle };
export const closed_wait = { value: NUMBERS.closed_wait };
export const mixed_wait = { value: NUMBERS.mixed_wait };
export const mixed_room = { value: NUMBERS.mixed_room };
export const closed_quantile = { value: closedQuantile(closedWaits(erlangC), quantileOfMoments(normalQuantile), erlangC) };
