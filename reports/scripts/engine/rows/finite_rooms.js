// Rows of queues with a finite room.

import { erlangC, inverseErlangB } from "../numerics/erlang.js";
import { roomQuantile } from "../queueing/finite_room_quantiles.js";
import { rooms } from "../queueing/finite_room.js";

const NUMBERS = rooms(inverseErlangB, erlangC);

export const room_loss = { value: NUMBERS.room_loss };
export const room_wait = { value: NUMBERS.room_wait };
export const room_traffic = { value: (...operands) => NUMBERS.room_traffic(...operands) };
export const room_quantile = { value: roomQuantile(inverseErlangB, NUMBERS.room_wait) };
