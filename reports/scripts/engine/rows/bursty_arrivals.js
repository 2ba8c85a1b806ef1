// Rows of flows that are on and off, and of uneven arrivals.

import { burstQuantile, burstWait, unevenPart } from "../queueing/on_off.js";

export const burst_wait = { value: burstWait };
export const burst_quantile = { value: burstQuantile };
export const uneven = { value: unevenPart };
