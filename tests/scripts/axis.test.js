// Where values lie in a picture, and the round numbers that stand there.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Axis, axisFor, roundStep } from "../../reports/scripts/common/axis.js";

for (const isLog of [false, true]) {
  test(`a place on ${isLog ? "a logarithmic" : "an"} axis is that of its value, there and back`, () => {
    const axis = new Axis(1, 1000, 50, 450, isLog);
    assert.equal(axis.at(1), 50);
    assert.equal(axis.at(1000), 450);
    for (const value of [1, 3, 77.7, 999]) assert.ok(Math.abs(axis.value(axis.at(value)) - value) < 1e-9 * value);
  });
}

test("steps are 1, 2, 2.5 or 5 times a power of ten, and no smaller than asked for", () => {
  for (const rough of [0.0013, 0.1, 0.7, 1, 1.1, 2.2, 4, 60, 999]) {
    const step = roundStep(rough), first = step / 10 ** Math.floor(Math.log10(step) + 1e-9);
    assert.ok(step >= rough * (1 - 1e-9));
    assert.ok([1, 2, 2.5, 5].some((one) => Math.abs(one - first) < 1e-9), `${step} for ${rough}`);
  }
});

test("ticks lie within the axis", () => {
  for (const axis of [new Axis(0, 7.3, 0, 1), new Axis(-4, 9, 0, 1), new Axis(0.02, 40000, 0, 1, true), new Axis(1, 8, 0, 1, true)]) {
    const ticks = axis.ticks(5);
    assert.ok(ticks.length > 1 && ticks.length < 12, `${ticks}`);
    for (const tick of ticks) assert.ok(tick >= axis.low - 1e-9 && tick <= axis.high * (1 + 1e-9));
  }
  assert.deepEqual(new Axis(0, 10, 0, 1).ticks(5), [0, 2, 4, 6, 8, 10]);
});

test("an axis shows all values; a logarithmic one eight decades of them", () => {
  const axis = axisFor([3, 97, NaN, Infinity], 0, 1, false);
  assert.deepEqual([axis.low, axis.high], [0, 100]);
  const below = axisFor([-3, 97], 0, 1, false);
  assert.ok(below.low <= -3 && below.high >= 97);
  const log = axisFor([1e-20, 0, 5, 700], 0, 1, true);
  assert.ok(Math.abs(log.low / 1e-5 - 1) < 1e-9 && log.high === 1000);
  assert.ok(axisFor([], 0, 1, true).isLog);
  assert.ok(axisFor([0, 0], 0, 1, false).high > 0);
});
