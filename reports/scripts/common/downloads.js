// Files that the page writes itself: nothing is asked of a network.

import { make } from "./dom.js";

export function downloadText(name, type, text) {
  const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  URL.revokeObjectURL(link.href);
}

// Rows as `qps matrix` writes them: all columns, numbers in base units, nothing where none stands.
export function csvOf(columns, rows) {
  const lines = [columns.map((one) => cellOf(one.name)).join(",")];
  for (const row of rows) {
    lines.push(columns.map((one) => {
      const value = one.at(row);
      return value === null ? "" : one.isWord ? cellOf(value) : String(value);
    }).join(","));
  }
  return `${lines.join("\n")}\n`;
}

// A text as a cell. A spreadsheet would run what looks like a formula: an apostrophe keeps it text.
function cellOf(text) {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
