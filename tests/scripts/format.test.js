// Numbers as people read them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { decimalOf, listed, number, percent, quantity, quoted, readable, shortened, toldApart, toldBeyond, whole } from "../../reports/scripts/common/format.js";

test("numbers have four digits and no false precision", () => {
  const told = [[0, "0"], [1234567, "1,235,000"], [0.00012346, "0.0001235"], [0.5, "0.5"], [99.996, "100"], [-1234.5, "-1,235"], [1e15, "1.000e+15"], [1e-5, "1.000e-05"], [Infinity, "∞"], [-Infinity, "-∞"], [NaN, "undefined"]];
  for (const [value, text] of told) assert.equal(number(value), text);
  assert.equal(percent(0.12345), "12.3 %");
  assert.equal(whole(1234567), "1,234,567");
});

test("a quantity has the unit that suits its size", () => {
  const units = { time: [[1, "s"], [1e-3, "ms"]] };
  assert.equal(quantity(units, 1.5, "time"), "1.5 s");
  assert.equal(quantity(units, 0.0015, "time"), "1.5 ms");
  assert.equal(quantity(units, 0, "time"), "0 s");
  assert.equal(quantity(units, 0.25, "", { share: true }), "25 %");
  assert.equal(quantity(units, 3, "other"), "3 other");
});

test("digits tell a value from its limit", () => {
  assert.equal(toldApart(1.00001, 1), "1.00001");
  assert.equal(toldApart(1, 1), "1");
  assert.equal(toldBeyond({ time: [[1, "s"]] }, 0.1500001, 0.15, "time"), "0.1500001 s");
});

test("fractions are told as short decimals, or to six digits", () => {
  assert.equal(decimalOf([1n, 8n]), "0.125");
  assert.equal(decimalOf([1n, 3n]), "0.333333333333");
  assert.equal(readable([1n, 3n]), "0.333333");
  assert.equal(readable([1n, 8n]), "0.125");
});

test("names are listed, quoted for a shell, and shortened", () => {
  assert.equal(listed(["a"]), "a");
  assert.equal(listed(["a", "b", "c"]), "a, b and c");
  assert.equal(quoted("a/b.qps"), "a/b.qps");
  assert.equal(quoted("it's $HOME"), "'it'\\''s $HOME'");
  assert.equal(shortened("abcdefgh", 4), "abc…");
  assert.equal(shortened("abcd", 4), "abcd");
});
