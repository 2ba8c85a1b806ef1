// Rows as a file: what a stranger wrote never becomes a formula.

import assert from "node:assert/strict";
import { test } from "node:test";

import { csvOf } from "../../reports/scripts/common/downloads.js";

const column = (name, isWord, values) => ({ name, isWord, at: (row) => values[row] });

test("numbers stand plain, words in quotes, nothing where none stands", () => {
  const columns = [column("N", false, [10, 0.1, null]), column("codec", true, ["G.711", 'a "b", c', null])];
  assert.equal(csvOf(columns, [0, 1, 2]), '"N","codec"\n10,"G.711"\n0.1,"a ""b"", c"\n,\n');
});

test("what a spreadsheet would run is text", () => {
  const texts = ["=1+1", "+1 ms", "-cmd|' /C calc'!A0", "@x", "\t=1", "\r=1", "'=1+1", "＝1"];
  const lines = csvOf([column("=name", true, texts)], texts.keys()).split("\n");
  assert.equal(lines[0], '"\'=name"');
  lines.slice(1, -1).forEach((line, i) => assert.equal(line, `"'${texts[i]}"`));
});

test("a number that stands as a text is no formula", () => {
  const texts = ["-1", "+2.5e-3", "-", "x=1"];
  const lines = csvOf([column("name", true, texts)], texts.keys()).split("\n");
  lines.slice(1, -1).forEach((line, i) => assert.equal(line, `"${texts[i]}"`));
});
