// Rows of closed networks of one class.

import { closedNumbers, closedWaits } from "../closed.js";
import { closedQuantile, quantileOfMoments } from "../closed_quantiles.js";
import { erlangC } from "../erlang.js";
import { normalQuantile } from "../normal.js";

const NUMBERS = closedNumbers(erlangC);

export const closed_rate = { value: NUMBERS.closed_rate };
export const closed_wait = { value: NUMBERS.closed_wait };
export const mixed_wait = { value: NUMBERS.mixed_wait };
export const mixed_room = { value: NUMBERS.mixed_room };
export const closed_quantile = { value: closedQuantile(closedWaits(erlangC), quantileOfMoments(normalQuantile), erlangC) };
