// The rows of a matrix: columns of distinct values in order, and for each row the number of its
// value, from 1 on; 0 is no value. To sort and to filter, the numbers will do.

import { amountIn, whole, withUnit, unitSymbols } from "../common/format.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const NOTHING = "–";

export class RowColumn {
  constructor(data, index, count) {
    Object.assign(this, { ...data, index, isWord: data.kind === "word" });
    this.codes = decoded(data.rows, data.width, count);
    this.head = data.unit ? `${data.label}, ${unitSymbols(data.unit)}` : data.label;
    this.hasNone = this.codes.includes(0);
    this.texts = new Array(this.values.length + 1);
  }

  // The value of a row; null for none.
  at(row) { return this.codes[row] ? this.values[this.codes[row] - 1] : null; }

  // A value in the unit of the column, as text.
  format(code) { return (this.texts[code] ??= code ? this.formatValue(this.values[code - 1]) : NOTHING); }

  formatValue(value) { return this.isWord ? value : this.kind === "whole" ? whole(value) : amountIn(value / this.factor, this.unit); }

  textOfRow(row) { return this.mark(row) + this.format(this.codes[row]); }

  // The same with its unit.
  quantity(code) { return code ? withUnit(this.format(code), this.unit) : this.format(code); }

  // The mark of how the value of a row is known; what is exact has none.
  mark(row) {
    if (!this.codes[row]) return "";
    const mark = this.marks?.[this.kinds?.at(row) ?? this.known] ?? "";
    // Where nothing limits them, the range ends, and there may be more.
    return this.limits && !this.limits.codes[row] ? this.ends[mark ? 1 : 0] : mark;
  }

  // The value of a row with its mark and its unit.
  quantityOf(row) { return this.mark(row) + this.quantity(this.codes[row]); }

  // The number of the first value that is at least, or above, one in base units.
  firstFrom(value, isAbove = false) {
    let low = 0, high = this.values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isAbove ? this.values[middle] > value : this.values[middle] >= value) high = middle;
      else low = middle + 1;
    }
    return low + 1;
  }
}

function decoded(text, width, count) {
  const place = new Uint8Array(128);
  for (let i = 0; i < LETTERS.length; i++) place[LETTERS.charCodeAt(i)] = i;
  const codes = new Uint32Array(count);
  if (!text) return codes; // no row has a value
  for (let row = 0, i = 0; row < count; row++) {
    let code = 0;
    for (let k = 0; k < width; k++) code = 64 * code + place[text.charCodeAt(i++)];
    codes[row] = code;
  }
  return codes;
}

// Rows by a column, those without a value last; what is alike stays in its order.
export function sortedBy(order, column, isDescending) {
  const { codes, values: { length } } = column;
  const slot = (code) => (code === 0 ? length : isDescending ? length - code : code - 1);
  const starts = new Uint32Array(length + 2);
  for (let i = 0; i < order.length; i++) starts[slot(codes[order[i]]) + 1]++;
  for (let i = 0; i <= length; i++) starts[i + 1] += starts[i];
  const found = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) found[starts[slot(codes[order[i]])]++] = order[i];
  return found;
}

// A configuration in words: its axes that have more than one value.
export function configurationOf(columns, row) {
  const axes = columns.filter((one) => one.axis);
  const varied = axes.filter((one) => one.values.length > 1);
  return (varied.length ? varied : axes).map((one) => `${one.label} ${one.quantity(one.codes[row])}`).join(", ");
}
