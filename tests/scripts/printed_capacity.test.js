// A capacity as the headline prints it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { printedCapacity } from "../../reports/scripts/common/format.js";

test("a capacity is rounded down, to the digits that can be relied on", () => {
  assert.equal(printedCapacity(7462, 100000), 7460);
  assert.equal(printedCapacity(1887, 100000), 1880);
  assert.equal(printedCapacity(45, 100000), 45);
  assert.equal(printedCapacity(7462, 7462), 7462);
});
