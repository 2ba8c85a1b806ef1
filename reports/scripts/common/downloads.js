// Files that the page writes itself: nothing is asked of a network.

import { make } from "./dom.js";

export function downloadText(name, type, text) { downloadBlob(name, new Blob([text], { type })); }

export function downloadBlob(name, blob) {
  const link = make("a", { download: name, href: URL.createObjectURL(blob) });
  link.click();
  URL.revokeObjectURL(link.href);
}

// Rows as `qps matrix` writes them: all columns, numbers in base units, nothing where none stands.
export function csvOf(columns, rows) {
  const head = columns.map((one) => one.name);
  return csvText(head, Array.from(rows, (row) => columns.map((one) => one.at(row))));
}

// A heading and rows of texts and numbers; null, and what is no number, is an empty cell.
export function csvText(head, rows) {
  return [head, ...rows].map((row) => `${row.map(cellOf).join(",")}\n`).join("");
}

// A text as a cell. A spreadsheet would run what looks like a formula: an apostrophe keeps it text,
// as `compiler/measurement/sheet_cells.py` has it.
function cellOf(value) {
  if (value === null || Number.isNaN(value)) return "";
  if (typeof value === "number") return String(value);
  const safe = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  return `"${safe.replaceAll('"', '""')}"`;
}

const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]./s;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
