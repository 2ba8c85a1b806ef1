// Rows of flows that are on and off, and of uneven arrivals.

import { burstQuantile, burstWait, unevenPart } from "../bursts.js";

export const burst_wait = { value: burstWait };
export const burst_quantile = { value: burstQuantile };
export const uneven = { value: unevenPart };
