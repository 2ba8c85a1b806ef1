// The table of assumptions: each number can be changed where it stands.

import { exactNumber } from "../engine/model.js";
import { breakable, make, table } from "../common/dom.js";
import { decimalOf, readable } from "../common/format.js";
import { inUnit } from "./sentences.js";

export function showAssumptions(column, controls) {
  const place = document.getElementById("numbers");
  if (!place) return;
  if (place.numbers !== column.graph.numbers || place.column !== column) {
    place.numbers = column.graph.numbers;
    place.column = column;
    place.inputs = new Map();
    place.replaceChildren(table(["number", "value", "range or interval", "stated at", "source"], column.graph.numbers.map((record) => {
      const input = make("input", {
        type: "text", inputmode: "decimal", class: "amount", "aria-label": record.name, disabled: record.decided,
        on: { input: () => controls.typed(record, input) },
      });
      place.inputs.set(record, input);
      const range = [record.low, record.high].map((bound) => (bound ? decimalOf(inUnit(record, bound.map(BigInt))) : ""));
      return [
        make("code", null, breakable(record.name)), make("span", { class: "value" }, input, ` ${record.unit}`),
        range.some(Boolean) ? `${range[0] || "…"} to ${range[1] || "…"}` : record.interval,
        make("code", { class: "place" }, record.place ?? ""), record.source,
      ];
    })));
  }
  for (const [record, input] of place.inputs) {
    const value = column.run.numbers.get(record.name);
    if (document.activeElement !== input) input.value = readable(inUnit(record, value));
    const stated = exactNumber(record);
    input.classList.toggle("changed", stated[0] * value[1] !== value[0] * stated[1]);
  }
}
