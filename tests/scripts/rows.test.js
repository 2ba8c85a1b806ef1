// Columns of a matrix: values in order, a number for each row; sorting and filtering by these.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Filters } from "../../reports/scripts/matrix/filters.js";
import { configurationOf, RowColumn, sortedBy } from "../../reports/scripts/matrix/rows.js";

// Rows 0 to 5: 10 s, none, 20 s, 30 s, 10 s, 20 s.
const TIMES = { kind: "real", label: "latency", values: [10, 20, 30], rows: "BACDBC", width: 1, unit: "s", factor: 1, scales: [[60, "min"], [1, "s"], [1e-3, "ms"]], axis: false };
const WORDS = { kind: "word", label: "codec", values: ["G.711", "Opus"], rows: "BBCCBC", width: 1, unit: "", factor: 1, scales: [], axis: true };
const columns = () => [new RowColumn(TIMES, 0, 6), new RowColumn(WORDS, 1, 6)];
const ALL = Uint32Array.from([0, 1, 2, 3, 4, 5]);

test("a row has the value of its number; 0 is none", () => {
  const [times] = columns();
  assert.deepEqual([...ALL].map((row) => times.at(row)), [10, null, 20, 30, 10, 20]);
  assert.ok(times.hasNone);
  assert.equal(times.quantityOf(0), "10 s");
  assert.equal(times.quantityOf(1), "–");
});

test("many values take several letters", () => {
  const column = new RowColumn({ ...TIMES, values: Array.from({ length: 200 }, (_, i) => i), rows: "DIAB", width: 2 }, 0, 2);
  assert.deepEqual([...column.codes], [3 * 64 + 8, 1]);
  assert.deepEqual([...new RowColumn({ ...TIMES, rows: "" }, 0, 2).codes], [0, 0]);
});

test("rows are sorted, stable, those without a value last either way", () => {
  const [times] = columns();
  assert.deepEqual([...sortedBy(ALL, times, false)], [0, 4, 2, 5, 3, 1]);
  assert.deepEqual([...sortedBy(ALL, times, true)], [3, 2, 5, 0, 4, 1]);
});

const written = [
  [">= 20", [2, 3, 5]], ["> 20 s", [3]], ["< 20", [0, 4]], ["<= 20000 ms", [0, 2, 4, 5]], ["20", [2, 5]], ["= 20", [2, 5]],
  ["10..20", [0, 2, 4, 5]], ["0.3..0.5 min", [2, 3, 5]], ["none", [1]], ["", [0, 1, 2, 3, 4, 5]], ["≥ 31", []],
];
for (const [text, rows] of written) {
  test(`of latencies, \`${text}\` keeps rows ${rows}`, () => {
    const all = columns(), filters = new Filters(all);
    assert.equal(filters.write(all[0], text), undefined);
    assert.deepEqual([...filters.included(ALL)], rows);
  });
}

test("what cannot be a limit is reported, and no row is filtered out", () => {
  const all = columns(), filters = new Filters(all);
  assert.match(filters.write(all[0], "abc"), /^enter a limit such as >= 20/);
  assert.match(filters.write(all[0], "5 kg"), /^unknown unit kg: use s, min and ms/);
  assert.match(filters.write(all[0], "1..2..3"), /two ends/);
  assert.equal(filters.active.size, 0);
});

test("filters of several columns hold together; words are chosen by their numbers", () => {
  const all = columns(), filters = new Filters(all);
  filters.write(all[0], ">= 10");
  filters.words(all[1], new Set([2]));
  assert.deepEqual([...filters.included(ALL)], [2, 3, 5]);
  filters.words(all[1], new Set([1, 2]));
  filters.range(all[0], 1, 3);
  assert.equal(filters.active.size, 0);
});

test("a configuration is named by its axes", () => assert.equal(configurationOf(columns(), 2), "codec Opus"));
