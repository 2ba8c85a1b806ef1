// Numbers as people read them: with a unit, four digits, no false precision: as `compiler/quantities/scales.py` has them.

import { exactOf, isEqual, quotient } from "../engine/numerics/fractions.js";

const LEAST_WRITTEN_OUT = -6, LONGEST_WRITTEN_OUT = 15; // magnitudes: beyond them, powers of ten read better
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export function number(value, digits = 4) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "-∞" : "no value";
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  if (magnitude < LEAST_WRITTEN_OUT || magnitude >= LONGEST_WRITTEN_OUT) return asPower(value, digits);
  const [ahead, part = ""] = rounded(Math.abs(value), digits - 1 - magnitude).split(".");
  const trimmed = part.replace(/0+$/, "");
  return (value < 0 ? "-" : "") + ahead.replace(/\B(?=(\d{3})+(?!\d))/g, ",") + (trimmed ? `.${trimmed}` : "");
}

function asPower(value, digits) {
  const [amount, power] = value.toExponential(digits - 1).split("e");
  const shown = amount.includes(".") ? amount.replace(/\.?0+$/, "") : amount;
  const ten = `10${power.replace("+", "").replace("-", "⁻").replace(/\d/g, (digit) => RAISED[digit])}`;
  return shown === "1" ? ten : `${shown} × ${ten}`;
}

// So many decimals, or zeros where that is below none; what lies in the middle goes to the even side, as in Python.
function rounded(value, decimals) {
  const twice = value * 2 * 10 ** decimals;
  const isMiddle = twice % 2 === 1 && (decimals < 0 ? Number.isInteger(value) : /50{20}$/.test(value.toFixed(Math.min(decimals + 21, 100))));
  const scaled = isMiddle ? (twice - 1) / 2 + ((twice - 1) / 2) % 2 : decimals < 0 ? Math.round(value / 10 ** -decimals) : null;
  if (decimals < 0) return String(scaled * 10 ** -decimals);
  return (scaled === null ? value : scaled / 10 ** decimals).toFixed(Math.min(decimals, 100));
}

const WHOLE = new Intl.NumberFormat("en-GB");

export function whole(value) { return WHOLE.format(value); }

// The last whole number up to a point: one that floats miss by a rounding is that number.
function lastWhole(point) {
  const nearest = Math.round(point);
  return Math.abs(point - nearest) <= ROUNDING * Math.abs(point) ? nearest : Math.floor(point);
}
const ROUNDING = 1e-9;

// Up to how many people something is so: whole, rounded down, with all digits; beyond 10^15 as a power of ten.
export function wholePopulation(at) {
  const last = lastWhole(at);
  return last < 10 ** LONGEST_WRITTEN_OUT ? whole(last) : number(last);
}

// People of samples: whole, to three digits, rounded to the side that promises less.
export function roundedDown(people) { return whole(Math.floor(people / step(people)) * step(people)); }
// A capacity as it is printed (`compiler/quantities/printed_capacity.py`).
export function printedCapacity(count, high) {
  if (count === high) return count;
  const places = 10 ** Math.max(0, String(count).length - 3);
  return Math.floor(count / places) * places;
}
export function roundedUp(people) { return whole(Math.ceil(people / step(people)) * step(people)); }
function step(people) { return 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, people))) - 2); }

// A line of text whose numbers stay with their units; what is no text stays as it is.
export function unbroken(text) { return typeof text === "string" ? text.replace(UNBREAKABLE, "\u00a0") : text; }
const UNBREAKABLE = /(?<=[\d⁰¹²³⁴⁵⁶⁷⁸⁹]) (?=[%$A-Za-z×])(?!(?:of|and|or|instead|to|with|for|in|between) )|(?<=[<>]=|[~×≤≥±→]) (?=\d)|(?<=\d) (?=→)/g;

export function percent(value, digits = 3) { return Number.isFinite(value) ? `${number(value * 100, digits)} %` : number(value); }

// A utilization as it stands beside its bar: one decimal (`utilization_text` in `reports/text/words/quantities.py`).
export function utilizationText(share) {
  if (share > 0 && share < LEAST_UTILIZATION) return `<${percent(LEAST_UTILIZATION)}`;
  return percent(share < 0.1 ? Number(rounded(share, 3)) : share);
}
const LEAST_UTILIZATION = 0.001; // what is below it is printed as that: nobody plans by it

// A value with the unit that suits its size; `units` are the scales of each dimension.
export function quantity(units, value, dimension, { share = false, digits = 4, beside = null } = {}) {
  if (!Number.isFinite(value)) return number(value);
  if (dimension === "") return share ? percent(value, digits) : number(value, digits);
  let [factor, unit] = scaleOf(units, value, dimension);
  if (beside !== null && Number.isFinite(beside)) {
    const shared = scaleOf(units, beside, dimension), there = Math.abs(value) / shared[0];
    if (there >= READ_WITH[0] && there <= READ_WITH[1]) [factor, unit] = shared;
  }
  return withUnit(amountIn(value / factor, unit, digits), unit);
}

// A cost as a reader plans with it: cents below $10, whole dollars from there on (`planning_money` in `reports/text/words/quantities.py`).
export function planningMoney(units, value, dimension) {
  const [factor, unit] = scaleOf(units, value, dimension), amount = value / factor;
  if (!Number.isFinite(amount) || Math.abs(amount) < 0.1) return withUnit(amountIn(amount, unit, 2), unit);
  const cents = Number(rounded(amount, 2));
  return withUnit(Math.abs(cents) < 10 ? cents.toFixed(2).replace(/\.00$/, "") : number(Number(rounded(amount, 0))), unit);
}

// A number in a unit, without the unit: money has two decimals where it would have one (`amount_in` in `scales.py`).
export function amountIn(value, unit, digits = 4) {
  const text = number(value, digits);
  return unit.startsWith("$") && ONE_DECIMAL.test(text) ? number(value, digits + 1).replace(ONE_DECIMAL, "$&0") : text;
}
const ONE_DECIMAL = /\.\d$/;

const READ_WITH = [0.1, 10_000]; // values that are read at once in the unit of another

// A number with its unit behind it, money with its sign before it: `40 ms`, `$1,118/month`.
export function withUnit(text, unit) {
  if (unit.startsWith("$")) return `${text.startsWith("-") ? "-" : ""}$${text.replace("-", "")}${unit.slice(1)}`;
  return `${text} ${unitSymbols(/^-?1$/.test(text) ? unit : plural(unit))}`.trimEnd();
}

// A unit, or a text with units, as it is printed: specs and settings have `us` in ASCII (`unit_symbols` in `scales.py`).
export function unitSymbols(text) { return text.replace(MICROSECONDS, "µs"); }
const MICROSECONDS = /(?<![\p{L}_])us(?![\p{L}\p{N}_])/gu;

// The plural of a unit that begins with a word, any other unit as it is: as `compiler/quantities/scales.py` has it.
function plural(unit) {
  const [, word, per] = COUNTED.exec(unit) ?? [];
  if (!word || /[^s]s$/.test(word)) return unit;
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies${per}`;
  return /(?:s|x|z|ch|sh)$/.test(word) ? `${word}es${per}` : `${word}s${per}`;
}
const COUNTED = /^(?!percent|k?bit\/s)([a-z][a-z_]{2,})((?: ?\/.*)?)$/; // `core`, `request/s`, not `ms`, `kB` or `bit/s`

function scaleOf(units, value, dimension) {
  if (dimension === "") return [1, ""];
  const scales = units[dimension] ?? [[1, dimension]];
  if (value === 0) return scales.find(([factor]) => factor === 1) ?? scales.at(-1);
  return scales.find(([factor]) => Math.abs(value) >= factor * (1 - 1e-12)) ?? scales.at(-1);
}

// As many digits as it takes to see on which side of a limit a value is.
export function formatDistinct(value, limit) {
  for (let digits = 4; digits < 16; digits++) {
    if (number(value, digits) !== number(limit, digits)) return number(value, digits);
  }
  return number(value);
}

// A quantity with as many digits as it takes to tell it from a limit.
export function formatBeyond(units, value, limit, dimension, { share = false, fewest = 4 } = {}) {
  for (let digits = fewest; digits < 16; digits++) {
    const text = quantity(units, value, dimension, { share, digits, beside: limit });
    if (text !== quantity(units, limit, dimension, { share, digits })) return text;
  }
  return quantity(units, value, dimension, { share, beside: limit });
}

// The same in three digits: where it takes more to tell them apart, that it is just over or under,
// unless it is not known on which side it is.
export function formatAgainstLimit(units, value, limit, dimension, { share = false, hasSide = true } = {}) {
  const [text, most] = [value, limit].map((one) => quantity(units, one, dimension, { share, digits: 3, beside: limit }));
  return text !== most || value === limit || !hasSide ? text : `just ${value < limit ? "under" : "over"} ${most}`;
}

// A fraction as a decimal text where it has a short one, else as a rounded number.
export function decimalOf([above, below]) {
  const key = `${above}/${below}`;
  if (!decimalOf.known.has(key)) decimalOf.known.set(key, shortestDecimal(above, below));
  return decimalOf.known.get(key);
}
decimalOf.known = new Map();

function shortestDecimal(above, below) {
  const value = quotient(above, below);
  for (let digits = 1; digits <= 15; digits++) {
    const text = writtenOut(Number(value.toPrecision(digits)));
    const read = exactOf(text);
    if (read && read[0] * below === above * read[1]) return text;
  }
  return writtenOut(Number(value.toPrecision(12)));
}

const SMALLEST = -12;

// A number with all its digits, where JavaScript would write a small one as 1e-7.
function writtenOut(value) {
  const [amount, power] = String(value).split("e-");
  if (power === undefined || -power < SMALLEST) return String(value);
  return value.toFixed(Number(power) + (amount.split(".")[1] ?? "").length);
}

// A decimal text with its thousands apart, and such a text without: what stands in fields.
export function grouped(text) { return text.replace(/^-?\d+(?=\.|$)/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",")); }
export function ungrouped(text) { return /^\s*-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?\s*$/.test(text) ? text.replaceAll(",", "") : text; }

// A fraction for a reader: whole where it ends, to six digits where it does not.
export function readable(value) {
  const text = decimalOf(value), read = exactOf(text);
  return read && isEqual(read, value) ? text : writtenOut(Number(quotient(...value).toPrecision(6)));
}

export function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

// A word of a command line, for a shell.
export function quoted(text) { return /^[\w./=,:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`; }

export function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, Math.max(3, Math.floor(most) - 1))}…`;
}
