// The law of the table of operations, for the page: its values, exact values, slopes and bounds are those
// of Python, which writes the cases (`tests/browsers/page_cases.py`) and says where in QPS_CASES.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";

import { exactly } from "../../reports/scripts/engine/exact_program.js";
import { Boxes } from "../../reports/scripts/engine/box_bounds.js";
import { OPERATIONS, slopesOf } from "../../reports/scripts/engine/operations.js";
import { Program } from "../../reports/scripts/engine/program.js";

const file = process.env.QPS_CASES;
const operations = file ? JSON.parse(readFileSync(file, "utf-8")) : {};

// Where these are fractions, floats are exact: the page needs no others.
const INEXACT = ["md1_quantile", "batch_quantile", "periodic_tail", "periodic_quantile", "sojourn_quantile", "gamma_quantile", "stages_quantile", "stages_tail", "order_level", "order_mean", "order_quantile", "order_tail", "fork_mean", "fork_quantile", "fork_tail", "closed_quantile", "closed_rate", "closed_cycle", "closed_wait", "mixed_wait", "mixed_room",
  "room_loss", "room_wait", "room_traffic", "room_quantile", "slowest", "burst_wait", "burst_quantile", "uneven", "unlike_long", "unlike_ratio", "unlike_share", "unlike_short", "class_rate", "class_wait", "class_open_wait", "class_quantile", "forked_rate", "forked_time", "forked_wait", "nested_rate", "nested_time", "nested_wait"];

function isNear(found, expected, within, least = 0) {
  return Object.is(found, expected) || found === expected || Math.abs(found - expected) <= Math.max(within * Math.abs(expected), least);
}

function difference(word, at, found, expected) { return `${word}(${at.join(", ")}) is ${found}, not ${expected}`; }

const law = file ? describe : describe.skip; // `python -m pytest tests/pages/test_linking.py` has them

law("the words are those of the table", () => {
  test("each of them, and the few that only programs of pages have", () => assert.deepEqual(Object.keys(OPERATIONS).sort(), Object.keys(operations).sort()));
});

for (const [word, { laws, isSigned, values, exact, endless, bounds, slopes }] of Object.entries(operations)) {
  law(word, () => {
    test("values", () => {
      for (const [at, value] of values) {
        const found = OPERATIONS[word].value(...at.map(Number));
        const within = word.startsWith("fork_") ? 1e-6 : 1e-9; // on grids, of which sums lose digits far out
        const least = isSigned || word === "nested_time" ? 1e-13 : 0; // a wait for a pool is what others leave: of none rounding does
        assert.ok(isNear(found, Number(value), within, least), difference(word, at, found, value));
      }
    });

    test("exact values", () => {
      for (const [at, value] of exact) {
        const found = exactly(word, at.map((one) => one.map(BigInt)));
        assert.deepEqual(found?.map(String) ?? null, INEXACT.includes(word) ? null : value, difference(word, at.map((one) => one.join("/")), found, value));
      }
    });

    test("exact values of infinities", () => {
      if (!OPERATIONS[word].endless) return;
      for (const [at, value] of endless) {
        const found = exactly(word, at.map((one) => one.map(BigInt)));
        assert.deepEqual(found?.map(String) ?? null, value, difference(word, at.map((one) => one.join("/")), found, value));
      }
    });

    test("slopes", () => {
      // Of what is inverted in floats, differences have fewer digits.
      const isInverted = laws[word]?.repeats || /^(nested|forked|shared)/.test(word), within = word.startsWith("fork_") ? 1e-3 : isInverted ? 1e-4 : OPERATIONS[word].slopes ? 1e-9 : 1e-6, least = isInverted ? 1e-6 : 1e-8;
      for (const [at, expected] of slopes) {
        const value = OPERATIONS[word].value(...at), found = slopesOf(word, at, value, laws[word]);
        expected.forEach((slope, k) => {
          const rounded = word.startsWith("fork_") ? 5e-4 * Math.abs(value / Number(at[k])) : 0; // so far grids know a value
          assert.ok(isNear(found[k], Number(slope), within, Math.max(least, rounded || 0)), difference(`slope ${k} of ${word}`, at, found[k], slope));
        });
      }
    });

    test("bounds of values and of chords", () => {
      for (const [lines, along] of bounds) {
        const { low, high, slow, steep } = bounded(word, laws, lines);
        along.forEach((value, k) => {
          assert.ok(!(value < low - 1e-9 * (1 + Math.abs(value)) || value > high + 1e-9 * (1 + Math.abs(value))), difference(word, lines, value, `in ${low}..${high}`));
          const chord = (value - along[k - 1]) * 8, room = 1e-6 * (1 + Math.abs(chord));
          assert.ok(!(chord < slow - room || chord > steep + room), difference(`chord of ${word}`, lines, chord, `in ${slow}..${steep}`));
        });
      }
    });
  });
}

test("what rounding loses has no value", () => { // `engine/queueing_networks/service_rate_stays.py`: 1e300 served at a time, each for 1e-10
  const station = [0, 1e300, 0, 1, 1e-10, 1e-10, 1, 1, -1, 1e308, 0, 1, 0, 0, 0, 0];
  assert.ok(Number.isNaN(OPERATIONS.shared_rate.value(2, 1, 20, 5, 2, 1, ...station)));
});

// Bounds of an operation while the population goes from 0 to 1, and each operand along its line.
function bounded(word, laws, lines) {
  const steps = [["n"]];
  const parts = lines.map(([start, end]) => {
    steps.push(["float", start], ["float", end - start]);
    if (start === end) return steps.length - 2;
    steps.push(["*", steps.length - 1, 0]);
    return steps.push(["+", steps.length - 3, steps.length - 1]) - 1;
  });
  const output = steps.push([word, ...parts]) - 1;
  const program = new Program(steps, laws);
  const { fixed, moving } = program.needed([output]), x = new Float64Array(program.size), boxes = new Boxes(program);
  program.run(fixed, x);
  boxes.fix(fixed, x);
  boxes.run(moving, 0, 1);
  return Object.fromEntries(["low", "high", "slow", "steep"].map((part) => [part, boxes[part][output]]));
}
