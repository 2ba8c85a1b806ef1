// Any table of a page as a file, as it is shown.

import { tableSaver } from "./dom.js";
import { csvText, downloadText } from "./downloads.js";

// Every table that was written into the page can be had, too; one listener does for all.
export function offerTables() {
  for (const table of document.querySelectorAll(".scroll > table")) if (!table.nextElementSibling) table.after(tableSaver());
  document.addEventListener("click", ({ target }) => {
    const table = target.closest?.("button.csv")?.previousElementSibling;
    if (table) downloadText(`${table.closest("[id]").id}.csv`, "text/csv", csvOfTable(table));
  });
}

function csvOfTable(table) {
  const [head, ...rows] = [...table.rows].map((row) => [...row.cells].map((cell) => plainCell(textOf(cell).trim())));
  return csvText(head, rows);
}

// What a cell shows: the value of a field, no button that does something to its row.
function textOf(node) {
  if (node.nodeType === 3) return node.data;
  if (node.localName === "input") return node.value;
  if (node.localName === "br") return " ";
  if (getComputedStyle(node).display === "none") return "";
  return node.localName === "svg" || node.matches("button.quiet") ? "" : [...node.childNodes].map(textOf).join("");
}

// A cell that holds a number alone is a number; of what it says with a unit nothing is taken away.
export function plainCell(text) {
  const isNumber = /^[+\-−]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?(e[+-]?\d+)?$/.test(text);
  return isNumber ? Number(text.replaceAll(",", "").replace("−", "-")) : text;
}
