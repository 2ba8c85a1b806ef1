// What is kept of the rows: for each column, the numbers of the values that may stand in it.

import { listed } from "../common/format.js";

export class Filters {
  constructor(columns) {
    this.columns = columns;
    this.active = new Map(); // by the column's place: { allowed, text, from, to }
  }

  of(column) { return this.active.get(column.index); }

  // Keep values from one number to another; all of them where both are the ends.
  range(column, from, to) {
    if (from <= 1 && to >= column.values.length) return this.clear(column);
    const text = from === to ? column.format(from) : `${column.format(from)}..${column.format(to)}`;
    this.set(column, text, (code) => code >= from && code <= to, from, to);
  }

  // Keep what a reader wrote; returns what is wrong with it, if anything.
  write(column, text) {
    if (!text.trim()) return this.clear(column);
    const found = limitsIn(column, text);
    if (found.trouble) return found.trouble;
    if (found.isNone) this.set(column, text, (code) => code === 0);
    else this.set(column, text, (code) => code >= found.from && code <= found.to, found.from, found.to);
  }

  // Keep some words, by their numbers; 0 for rows without one.
  words(column, chosen) {
    const count = column.values.length + (column.hasNone ? 1 : 0);
    if (chosen.size === count) return this.clear(column);
    const codes = [...chosen].filter((code) => code).sort((a, b) => a - b);
    const names = [...chosen].map((code) => (code ? column.values[code - 1] : "none"));
    const text = names.length > 2 ? `${names.length} of ${count}` : names.join(" or ") || "nothing";
    const isRun = codes.length > 0 && codes.at(-1) - codes[0] === codes.length - 1 && !chosen.has(0);
    this.set(column, text, (code) => chosen.has(code), ...(isRun ? [codes[0], codes.at(-1)] : []));
  }

  set(column, text, isAllowed, from = null, to = null) {
    const allowed = Uint8Array.from({ length: column.values.length + 1 }, (_, code) => (isAllowed(code) ? 1 : 0));
    this.active.set(column.index, { allowed, text, from, to });
  }

  clear(column) { this.active.delete(column.index); }

  isAllowed(column, code) { return !this.active.has(column.index) || this.of(column).allowed[code] === 1; }

  // The rows that pass, in the order in which they come.
  included(order) {
    const tests = [...this.active].map(([index, { allowed }]) => [this.columns[index].codes, allowed]);
    if (!tests.length) return order;
    const found = new Uint32Array(order.length);
    let count = 0;
    rows: for (let i = 0; i < order.length; i++) {
      for (const [codes, allowed] of tests) if (!allowed[codes[order[i]]]) continue rows;
      found[count++] = order[i];
    }
    return found.subarray(0, count);
  }
}

const LIMIT = /^\s*(>=|<=|==?|>|<|≥|≤)?\s*(.*?)\s*$/;
const AMOUNT = /^([+-]?(?:\d[\d,_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(.*)$/i;

// The numbers of the first and last value within `>= 500`, `< 2 s`, `10..20`, `7` or `none`.
function limitsIn(column, text) {
  if (/^\s*(none|–|-)\s*$/i.test(text)) return { isNone: true };
  const [low, high, ...more] = text.split("..");
  if (more.length) return { trouble: "a range has two ends: 10..20" };
  if (high !== undefined) {
    // The unit of the last end holds for both.
    const last = amountIn(column, high), unit = AMOUNT.exec(high.trim())?.[2] ?? "";
    const first = amountIn(column, low, unit);
    const trouble = first.trouble ?? last.trouble;
    return trouble ? { trouble } : { from: column.firstFrom(nearly(first.value, -1)), to: column.firstFrom(nearly(last.value, 1), true) - 1 };
  }
  const [, sign, rest] = LIMIT.exec(text);
  const { value, trouble } = amountIn(column, rest);
  if (trouble) return { trouble };
  const least = column.firstFrom(nearly(value, -1)), beyond = column.firstFrom(nearly(value, 1), true);
  const last = column.values.length;
  switch (sign) {
    case ">=": case "≥": return { from: least, to: last };
    case ">": return { from: beyond, to: last };
    case "<=": case "≤": return { from: 1, to: beyond - 1 };
    case "<": return { from: 1, to: least - 1 };
    default: return { from: least, to: beyond - 1 };
  }
}

// What is told with six digits is equal to what is written, whatever floats make of its unit.
function nearly(value, direction) { return value + direction * 1e-9 * Math.abs(value); }

// An amount in base units; a number without a unit has that of the column.
function amountIn(column, text, usual = "") {
  const parts = AMOUNT.exec(text.trim());
  if (!parts) return { trouble: `enter a limit such as >= ${column.values.length ? column.format(Math.ceil(column.values.length / 2)) : "5"}, 10..20, or none` };
  const unit = parts[2]?.replace(/^[µμ]s/, "us") || usual;
  const known = unit === "" || unit === column.unit ? [column.factor] : column.scales.find(([, name]) => name === unit);
  if (!known) {
    const names = [...new Set([column.unit, ...column.scales.map(([, name]) => name)])].filter(Boolean);
    return { trouble: names.length ? `unknown unit ${unit}: use ${listed(names)}` : "enter a number without a unit" };
  }
  return { value: Number(parts[1].replace(/[,_]/g, "")) * known[0] };
}
