// Numbers as people read them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { amountIn, decimalOf, grouped, listed, number, percent, quantity, quoted, readable, shortened, formatDistinct, formatBeyond, unbroken, ungrouped, whole } from "../../reports/scripts/common/format.js";

// The same as Python's: `tests/engine/test_numbers.py`.
const NUMBERS = JSON.parse(readFileSync(join(import.meta.dirname, "numbers.json"), "utf8"));

test("numbers have so many digits and no false precision", () => {
  for (const [value, digits, text] of NUMBERS) assert.equal(number(value, digits), text);
  for (const [value, text] of [[Infinity, "∞"], [-Infinity, "-∞"], [NaN, "no value"]]) assert.equal(number(value), text);
  assert.equal(percent(0.12345), "12.3 %");
  assert.equal(whole(1234567), "1,234,567");
});

test("a quantity has the unit that suits its size", () => {
  const units = { time: [[1, "s"], [1e-3, "ms"]] };
  assert.equal(quantity(units, 1.5, "time"), "1.5 s");
  assert.equal(quantity(units, 0.0015, "time"), "1.5 ms");
  assert.equal(quantity(units, 0, "time"), "0 s");
  assert.equal(quantity(units, 0.25, "", { share: true }), "25 %");
  assert.equal(quantity(units, 3, "other"), "3 others");
});

// The same as Python's: `amount_in` in `compiler/quantities/scales.py`.
test("money has two decimals where it would have one", () => {
  const amounts = [[204.54, "$/month"], [0.5, "$"], [1118.2, "$"], [-12.5, "$"], [0.008001, "$"], [0.5, "s"]];
  assert.deepEqual(amounts.map(([value, unit]) => amountIn(value, unit)), ["204.54", "0.50", "1,118", "-12.50", "0.008001", "0.5"]);
});

test("what stands in fields has its thousands apart, and is read so", () => {
  for (const [plain, apart] of [["1544", "1,544"], ["35000000000", "35,000,000,000"], ["0.0012345", "0.0012345"], ["-1234.5678", "-1,234.5678"], ["12", "12"]]) {
    assert.equal(grouped(plain), apart);
    assert.equal(ungrouped(apart), plain);
  }
  for (const text of ["1,5", "0,005", "1,2345", "1,234,5"]) assert.equal(ungrouped(text), text); // no thousands: not read
  assert.equal(readable([1n, 10000000n]), "0.0000001");
  assert.equal(decimalOf([123n, 10000000000n]), "0.0000000123");
});

test("digits distinguish a value from its limit", () => {
  assert.equal(formatDistinct(1.00001, 1), "1.00001");
  assert.equal(formatDistinct(1, 1), "1");
  assert.equal(formatBeyond({ time: [[1, "s"]] }, 0.1500001, 0.15, "time"), "0.1500001 s");
});

test("fractions are printed as short decimals, or to six digits", () => {
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

test("numbers stay with their units and marks where lines break", () => {
  for (const [text, held] of [["price 900 $ or 0.8 $/hour", "price 900_$ or 0.8_$/hour"], ["227 of 230 ms", "227 of 230_ms"], ["~ 5 % and >= 3 kB", "~_5_% and >=_3_kB"], ["1.5 × 10⁻⁹ s", "1.5_×_10⁻⁹_s"]]) {
    assert.equal(unbroken(text), held.replaceAll("_", "\u00a0"));
  }
  assert.equal(unbroken(12), 12);
});
