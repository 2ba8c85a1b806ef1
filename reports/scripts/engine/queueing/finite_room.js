// Queues with a finite room, as `engine/queueing/finite_room_numbers.py` has them. Times are counted in service times.

import { risingRoot } from "../numerics/roots.js";

const TERMS = 22, NEAR = 0.15, NEARLY_ALL = 1 - 1e-12;

// By Erlang's formulas, of the numbers of queues, which know this module.
export function rooms(inverseErlangB, erlangC) {
  const isThere = (servers, room, traffic) => servers > 0 && room >= 0 && traffic >= 0;
  return {
    room_loss(servers, room, traffic) {
      if (!isThere(servers, room, traffic)) return NaN;
      const c = Math.min(servers, room);
      if (room === Infinity || traffic === Infinity) {
        if (room < Infinity) return 1;
        if (servers === Infinity || traffic === Infinity) return traffic < Infinity ? 0 : servers < Infinity ? 1 : NaN;
        return traffic <= c ? 0 : 1 - c / traffic;
      }
      const m = room - c, inverse = inverseErlangB(c, traffic);
      if (m === 0 || inverse === Infinity) return 1 / inverse;
      if (traffic <= c) return (traffic / c) ** m / (inverse + (traffic / c) * powers(m, (traffic - c) / c));
      return 1 / (powers(m, (c - traffic) / traffic) + (c / traffic) ** m * inverse);
    },

    room_wait(servers, room, traffic) {
      if (!isThere(servers, room, traffic)) return NaN;
      const c = Math.min(servers, room), m = room > c ? room - c : 0;
      if (m === 0 || traffic === 0) return 0;
      if (traffic === Infinity) return m / c;
      if (room === Infinity) return traffic < c ? erlangC(c, traffic) / (c - traffic) : Infinity;
      const inverse = inverseErlangB(c, traffic);
      if (inverse === Infinity) return 0;
      const q = c / traffic, x = (c - traffic) / traffic;
      if (traffic > c) return (q * stairs(m, x)) / c / (powers(m, x) - 1 + q ** m * inverse);
      const r = traffic / c, y = (traffic - c) / c, power = r ** m, sums = powers(m, y);
      const above = (m + 1) * -y < 1 ? power * stairs(m, x) * q : (sums - m * power) / -y;
      return above / c / (inverse + r * sums - power);
    },

    // The traffic at which those who get in wait so long.
    room_traffic(servers, room, wait) {
      if (!isThere(servers, room, wait) || servers === Infinity || room === Infinity) return NaN;
      const c = Math.min(servers, room);
      if (wait === 0 || room <= c) return 0;
      if (wait >= (room - c) / c) return Infinity;
      const share = risingRoot((one) => this.room_wait(servers, room, (c * one) / (1 - one)) - wait, 0, NEARLY_ALL);
      return (c * share) / (1 - share);
    },
  };
}

// The sum of (1 + x)^j over j = 0..m - 1.
function powers(terms, apart) { return apart === 0 ? terms : Math.expm1(terms * Math.log1p(apart)) / apart; }

// The sum of (m - j) (1 + x)^j over j = 0..m - 1: that of C(m + 1, n) x^(n - 2).
function stairs(terms, x) {
  if (Math.abs(x) * (terms + 1) >= 1 || Math.abs(x) > NEAR) return (Math.expm1((terms + 1) * Math.log1p(x)) - (terms + 1) * x) / (x * x);
  let total = 0, term = (terms * (terms + 1)) / 2;
  for (let n = 2; n < TERMS; n++) {
    total += term;
    term *= ((terms + 1 - n) / (n + 1)) * x;
  }
  return total;
}
