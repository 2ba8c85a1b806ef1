// The rows of the k-th shortest of n times. They are summed from inverted transforms: smaller steps lose their digits.

import { orderLevel } from "../numerics/order_levels.js";
import { orderMean, orderQuantile, orderTail } from "../queueing/orders.js";

export const order_level = { value: orderLevel };
export const order_mean = { value: orderMean, step: 2e-4 };
export const order_quantile = { value: orderQuantile, step: 2e-4 };
export const order_tail = { value: orderTail, step: 2e-4 };
