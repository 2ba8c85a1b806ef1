// Closed networks with pools: all numbers of customers are computed together, and each is what it is by itself.

import assert from "node:assert/strict";
import { test } from "node:test";

import { nested_rate, nested_time, nested_wait } from "../../reports/scripts/engine/rows/load_dependent_networks.js";

const POOL = [5, 0.2, 7, 1, 1, ...[0, 0.4, 1, 0.3, 1], ...[0, 0.9, 3, 0, 1], ...[2, 0.1, 4, 2, 2], ...[-2, 0.5, 2, 0.2, 1], ...[0, 0.3, 1, 0, 1]];
const SPEEDS = [0, 0.7, 1, 0, 2, ...[-1, 0, 2.5, 0, 1], ...[-1, 0, 1.8, 0, 1]];
const PLACES = [...POOL, ...SPEEDS, ...[0, 0.6, 1, 0.4, 2], ...[0, 1.1, 4, 1.2, 1], ...[0, 0.8, 500, 0, 1]];
const EVERY = [...PLACES.keys()].filter((k) => k % 5 === 0 && PLACES[k] !== -1).map((k) => k / 5);

// Nobody comes to the last place: whoever has it otherwise asks for another network, of one number of customers.
const alone = (customers) => [...PLACES, 0, 0, 1 + customers, 0, 1];

for (const customers of [1, 2, 9, 16, 17, 60, 200]) {
  test(`${customers} customers`, () => {
    const near = (found, expected, what) => assert.ok(Object.is(found, expected) || Math.abs(found - expected) <= 1e-10 * Math.abs(expected) + 1e-12, `${what} is ${found}, not ${expected}`);
    near(nested_rate.value(customers, 0.3, ...PLACES), nested_rate.value(customers, 0.3, ...alone(customers)), "the rate");
    for (const which of EVERY) {
      near(nested_time.value(which, customers, 0.3, ...PLACES), nested_time.value(which, customers, 0.3, ...alone(customers)), `the time at ${which}`);
      near(nested_wait.value(which, customers, 0.3, ...PLACES), nested_wait.value(which, customers, 0.3, ...alone(customers)), `the wait at ${which}`);
    }
  });
}
