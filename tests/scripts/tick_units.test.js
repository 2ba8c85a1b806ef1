// What ticks and costs say: a unit once, dollars that a reader plans with.

import assert from "node:assert/strict";
import { test } from "node:test";
import { withUnitOnce } from "../../reports/scripts/common/axis.js";
import { planningMoney } from "../../reports/scripts/common/format.js";

test("ticks have their unit at the last one alone, where all have the same", () => {
  assert.deepEqual(withUnitOnce(["0 s", "10 ms", "20 ms"]), ["0", "10", "20 ms"]);
  assert.deepEqual(withUnitOnce(["0 %", "50 %", "100 %"], "_"), ["0_", "50_", "100 %"]);
  assert.deepEqual(withUnitOnce(["500 ms", "1 s"]), ["500 ms", "1 s"]);
  assert.deepEqual(withUnitOnce(["1,000", "2,000"]), ["1,000", "2,000"]);
  assert.deepEqual(withUnitOnce([]), []);
});

test("costs have cents below $10, and whole dollars from there on", () => {
  const month = 365.25 * 86400 / 12, units = { "$/s": [[1 / month, "$/month"]] };
  const shown = [0.9326, 986.17, 4857.6, 0.00214, 9.999].map((value) => planningMoney(units, value / month, "$/s"));
  assert.deepEqual(shown, ["$0.93/month", "$986/month", "$4,858/month", "$0.0021/month", "$10/month"]);
});
