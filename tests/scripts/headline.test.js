// The headline in parts, and the number in it: the table that `tests/pages/test_headline_parts.py` holds Python to.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { headlineParts, printedCapacity } from "../../reports/scripts/common/format.js";

const cases = JSON.parse(readFileSync(join(import.meta.dirname, "headline_cases.json"), "utf8"));

for (const [text, isAnswered, parts] of cases) {
  test(`the headline in parts: ${text}`, () => assert.deepEqual(headlineParts(text, isAnswered), parts));
}

test("a capacity is rounded down, to the digits that can be relied on", () => {
  assert.equal(printedCapacity(7462, 100000), 7460);
  assert.equal(printedCapacity(1887, 100000), 1880);
  assert.equal(printedCapacity(45, 100000), 45);
  assert.equal(printedCapacity(7462, 7462), 7462);
});
