// Exact fractions, and decimal texts that become them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exactOf, floorOf, isEqual, powerOf, quotient, reduced } from "../../reports/scripts/engine/numerics/fractions.js";

test("a fraction is in its lowest terms, and what is below is positive", () => {
  assert.deepEqual(reduced(6n, -4n), [-3n, 2n]);
  assert.deepEqual(reduced(0n, -7n), [0n, 1n]);
});

test("powers have whole exponents; one over nothing has no value", () => {
  assert.deepEqual(powerOf([2n, 3n], 3), [8n, 27n]);
  assert.deepEqual(powerOf([-2n, 3n], -3), [-27n, 8n]);
  assert.equal(powerOf([0n, 1n], -1), null);
});

test("rounding down goes below zero", () => {
  for (const [fraction, below] of [[[7n, 2n], 3n], [[-7n, 2n], -4n], [[-8n, 2n], -4n], [[0n, 1n], 0n]]) assert.equal(floorOf(fraction), below);
});

test("fractions are equal that have one value", () => {
  assert.ok(isEqual([1n, 2n], [3n, 6n]));
  assert.ok(!isEqual([1n, 2n], [-1n, 2n]));
});

test("quotients of numbers of any size are within a rounding of their value", () => {
  assert.equal(quotient(1n, 3n), 1 / 3);
  assert.equal(quotient(10n ** 400n, 10n ** 397n), 1000);
  assert.equal(quotient(-(10n ** 40n), 3n * 10n ** 40n), -1 / 3);
  assert.equal(quotient(1n, 10n ** 320n), 1e-320);
  for (let k = 1n; k < 60n; k++) {
    const above = 7n ** k, below = 3n ** (2n * k) + 1n;
    const found = quotient(above, below), off = BigInt(Math.round(found * 2 ** 160)) * below - (above << 160n);
    assert.ok((off < 0n ? -off : off) << 50n <= above << 160n, `${above}/${below} is not ${found}`);
  }
});

test("decimal texts are read exactly", () => {
  assert.deepEqual(exactOf("0.1"), [1n, 10n]);
  assert.deepEqual(exactOf(" 1_000.50 "), [2001n, 2n]);
  assert.deepEqual(exactOf("1.5e3"), [1500n, 1n]);
  assert.deepEqual(exactOf("-2e-3"), [-1n, 500n]);
  for (const text of ["", ".", "1e", "0x10", "1 2", "NaN", "1e9999", "∞"]) assert.equal(exactOf(text), null, text);
});
