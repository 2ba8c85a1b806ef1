// The table of assumptions: each number can be changed where it stands.

import { exactNumber } from "../../engine/model.js";
import { make, table } from "../../common/dom.js";
import { decimalOf, grouped, readable, unitSymbols } from "../../common/format.js";
import { labeled } from "../labels.js";
import { inUnit } from "../sentences.js";

export function showAssumptions(column, controls) {
  const place = document.getElementById("numbers");
  if (!place) return;
  if (place.numbers !== column.graph.numbers || place.column !== column) {
    place.numbers = column.graph.numbers;
    place.column = column;
    place.inputs = new Map();
    place.replaceChildren(table(["Input", "Value", "Range or interval", "Defined at", "Source"], column.graph.numbers.map((record) => {
      // Another value of what is decided has other formulas: it is told, and is no control.
      const input = record.decided ? make("span") : make("input", {
        type: "text", inputmode: "decimal", class: "amount", "aria-label": record.name,
        on: { input: () => controls.typed(record, input) },
      });
      place.inputs.set(record, input);
      const range = [record.low, record.high].map((bound) => (bound ? grouped(decimalOf(inUnit(record, bound.map(BigInt)))) : ""));
      return [
        labeled(column.model, record.name), make("span", { class: "value" }, input, ` ${unitSymbols(record.unit)}`),
        range.some(Boolean) ? `${range[0] || "…"} to ${range[1] || "…"}` : record.interval,
        make("code", { class: "place" }, record.place ?? ""), record.source,
      ];
    })));
  }
  for (const [record, input] of place.inputs) {
    const value = column.run.numbers.get(record.name);
    const number = grouped(readable(inUnit(record, value)));
    if (record.decided) input.textContent = number;
    else if (document.activeElement !== input) input.value = number;
    const stated = exactNumber(record);
    input.classList.toggle("changed", stated[0] * value[1] !== value[0] * stated[1]);
  }
}
