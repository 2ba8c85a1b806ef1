// How an answer is known, by how what limits it is; and in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { knownOver, largestKnown, marked, together, turned, formatUsers } from "../../reports/scripts/engine/certainty.js";

const UPPER = ["upper bound", ["a"]], LOWER = ["lower bound", ["b"]], NEAR = ["approximation", ["c"]];

// A criterion that fails first at a population, known there as everywhere.
function judged(failure, known, atMost = true) { return { failure, knownThere: known, criterion: { known, atMost } }; }

test("what is exact needs no word", () => {
  assert.equal(largestKnown([judged(7, null), judged(null, null)], 1), null);
  assert.equal(together([null, null]), null);
  assert.equal(turned(null), null);
});

test("what fails by an upper bound may hold for more; what holds by a lower bound may for fewer", () => {
  assert.deepEqual(largestKnown([judged(7, UPPER)], 1), ["lower bound", ["a"]]);
  assert.deepEqual(largestKnown([judged(7, LOWER)], 1), ["upper bound", ["b"]]);
  assert.deepEqual(largestKnown([judged(7, null), judged(9, LOWER)], 1), ["upper bound", ["b"]]);
  assert.deepEqual(largestKnown([judged(7, UPPER), judged(9, LOWER)], 1), ["approximation", ["a", "b"]]);
  assert.deepEqual(largestKnown([judged(7, NEAR)], 1), ["approximation", ["c"]]);
});

test("of several that fail at once, an exact one decides", () => {
  assert.equal(largestKnown([judged(7, UPPER), judged(7, null)], 1), null);
});

test("where the first population fails, nothing was judged mildly", () => {
  assert.equal(largestKnown([judged(1, LOWER)], 1), null);
});

test("a floor is turned round", () => {
  assert.deepEqual(knownOver({ known: UPPER, atMost: false }), ["lower bound", ["a"]]);
  assert.deepEqual(largestKnown([judged(7, LOWER, false)], 1), ["lower bound", ["b"]]);
});

test("what rests on several is known as all are, or nearly", () => {
  assert.deepEqual(together([UPPER, null, UPPER]), UPPER);
  assert.deepEqual(together([UPPER, LOWER]), ["approximation", ["a", "b"]]);
});

test("numbers are marked, but those that have no finite value", () => {
  assert.equal(marked("3", LOWER), "≥ 3");
  assert.equal(marked("∞", LOWER, Infinity), "∞");
  assert.equal(formatUsers({ largest: 1000, isRange: false, known: NEAR }), "~ 1,000");
  assert.equal(formatUsers({ largest: 1000, isRange: true, known: null }), "1,000+");
});
