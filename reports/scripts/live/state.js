// What a page is set to as a text for an address: readable, and canonical, so that two settings are the
// same where their texts are. What is read may come from anybody: all of it is looked up, nothing is run.

import { exactOf, isEqual, reduced } from "../engine/numerics/fractions.js";
import { decimalOf, shortened, whole } from "../common/format.js";
import { beyondRange } from "./panels/controls.js";
import { inUnit } from "./sentences.js";

export const VERSION = 1;
const LOOKS = ["look", "open"];
const LONGEST = 20000, MAX_COLUMNS = 40;

// Why a text is not taken, in words for the reader.
export class Refused extends Error {}

// -- writing -----------------------------------------------------------------------------

export function stateOf({ models, columns, active, sure, looks }) {
  const pairs = columns.flatMap((column, i) => {
    const own = pairsOf(column);
    if (column.isPinned) return [["keep", String(models.indexOf(column.model) + 1)], ...own];
    return own.length && i ? [["column", String(i + 1)], ...own] : own;
  });
  if (active) pairs.push(["shown", String(active + 1)]);
  if (sure && sure.seed !== 1) pairs.push(["samples", String(sure.seed)]);
  pairs.push(...looks.pairs());
  return pairs.map(([word, text]) => `${word}=${escaped(text)}`).join("&");
}

// What a column has otherwise than it began with, under the words of the command line.
export function pairsOf({ model, setting, began, follows, n }) {
  const start = model.starts[setting.start], pairs = [];
  if (setting.mode) pairs.push(["mode", setting.mode]);
  model.selects.forEach(({ name, choices }, i) => {
    if (setting.picks[i] !== start.picks[i]) pairs.push(["set", `${name}=${choices[setting.picks[i]]}`]);
  });
  const isChanged = model.changedIn(setting);
  for (const [name, record] of recordsOf(model, setting)) {
    if (isChanged(name)) pairs.push(["set", `${name}=${numberText(record, setting.numbers.get(name))}`]);
  }
  if (!follows) pairs.push(["at", String(n)]);
  const isElsewhere = setting.start !== began;
  if (isElsewhere || (pairs.length && start.name)) pairs.unshift(["from", start.name]);
  return pairs;
}

// All numbers of a setting, in every mode, by name.
function recordsOf(model, setting) {
  const graphs = model.graphs(setting) ?? [];
  return new Map(graphs.flatMap((graph) => graph.numbers.map((record) => [record.name, record])));
}

// A number in its unit, to the last digit: where it has no short decimal, as a fraction.
function numberText(record, value) {
  const shown = inUnit(record, value), short = decimalOf(shown), read = exactOf(short);
  const text = read && isEqual(read, shown) ? short : shown.join("/");
  return record.unit ? `${text} ${record.unit}` : text;
}

const PLAIN = { "%20": "+", "%2F": "/", "%3A": ":", "%2C": ",", "%3D": "=", "'": "%27", "(": "%28", ")": "%29" };

// A text as an address takes it, with as few signs in the place of others as that allows.
export function escaped(text) {
  return encodeURIComponent(text).replace(/%20|%2F|%3A|%2C|%3D|['()]/g, (found) => PLAIN[found]);
}

// -- reading -----------------------------------------------------------------------------

// Words and texts of an address; what has no such form is refused.
export function pairsIn(text) {
  if (text.length > LONGEST) throw new Refused("it is too long");
  return text.split("&").filter(Boolean).map((part) => {
    const at = part.indexOf("=");
    try {
      if (at > 0) return [part.slice(0, at), decodeURIComponent(part.slice(at + 1).replaceAll("+", "%20"))];
    } catch {
      // said below
    }
    throw new Refused(`${quotedShort(part)} is malformed`);
  });
}

// What a page is to be set to: for each column its setting, not solved yet.
export function stateIn(pairs, app) {
  const own = app.columns.filter((one) => !one.isPinned).map(({ model, began }) => ({ model, began, pairs: [] }));
  const state = { columns: own, active: 0, seed: 1, looks: app.looks.read(pairs.filter(([word]) => LOOKS.includes(word))) };
  let column = own[0], shown = "1";
  for (const [word, text] of pairs) {
    if (word === "column") column = own[Number(text) - 1] ?? refused(`there is no column ${quotedShort(text)}`);
    else if (word === "keep") {
      const model = app.models[Number(text) - 1] ?? refused(`the report has no spec ${quotedShort(text)}`);
      if (state.columns.length >= MAX_COLUMNS) refused("it pins too many configurations");
      column = { model, began: null, pairs: [], isPinned: true };
      state.columns = [...state.columns, column];
    } else if (word === "shown") shown = text;
    else if (word === "samples") state.seed = /^\d{1,9}$/.test(text) ? Number(text) : refused(`${quotedShort(text)} is not a valid seed of samples`);
    else if (["from", "mode", "set", "at"].includes(word)) column.pairs.push([word, text]);
    else if (!LOOKS.includes(word)) refused(`${quotedShort(word)} is not recognized`);
  }
  state.active = state.columns[Number(shown) - 1] ? Number(shown) - 1 : refused(`there is no column ${quotedShort(shown)}`);
  state.columns = state.columns.map(({ model, began, isPinned, ...one }) => ({ model, began, isPinned, ...settingIn({ model, began, ...one }) }));
  return state;
}

function settingIn({ model, began, pairs }) {
  const texts = (word) => pairs.filter(([own]) => own === word).map(([, text]) => text);
  const only = (word) => (texts(word).length > 1 ? refused(`${word} appears twice`) : texts(word)[0]);
  const from = only("from"), plain = model.starts.findIndex((one) => one.name === (from ?? ""));
  if (from !== undefined && plain < 0) refused(`there is no scenario ${quotedShort(from)}`);
  const asBegun = began ?? 0;
  const setting = model.setting(!pairs.length || plain < 0 ? asBegun : plain);
  setting.mode = only("mode") || null;
  const numbers = new Map();
  for (const text of texts("set")) {
    const at = text.indexOf("="), name = text.slice(0, at), value = text.slice(at + 1);
    const select = model.selects.findIndex((one) => one.name === name);
    if (numbers.has(name)) refused(`it sets ${quotedShort(name)} twice`);
    numbers.set(name, value);
    if (select < 0) continue;
    setting.picks[select] = model.selects[select].choices.indexOf(value);
    if (setting.picks[select] < 0) refused(`${quotedShort(name)} cannot be ${quotedShort(value)}`);
    numbers.set(name, null);
  }
  const graphs = model.graphs({ ...setting, mode: null });
  if (!graphs) refused("this page does not include this combination of options, machines and networks");
  if (setting.mode && !graphs.some((one) => one.mode === setting.mode)) refused(`there is no mode ${quotedShort(setting.mode)}`);
  const records = recordsOf(model, setting);
  for (const [name, text] of numbers) {
    if (text === null) continue;
    const record = records.get(name) ?? refused(`there is no input ${quotedShort(name)}`);
    setting.numbers.set(name, numberIn(record, text));
  }
  const at = only("at"), [{ low, high }] = graphs;
  if (at !== undefined && !(/^\d{1,15}$/.test(at) && Number(at) >= low && Number(at) <= high)) {
    refused(`${quotedShort(at)} is not a population from ${whole(low)} to ${whole(high)}`);
  }
  return { setting, follows: at === undefined, n: at === undefined ? null : Number(at) };
}

function numberIn(record, text) {
  const { name, unit } = record;
  if (record.decided) refused(`${quotedShort(name)} cannot be changed on this page`);
  const number = unit && text.endsWith(` ${unit}`) ? text.slice(0, -unit.length - 1) : text;
  if (unit && number === text) refused(`${quotedShort(name)} needs the unit ${unit}`);
  const parts = number.split("/"), read = parts.map(exactOf), [above, below] = read;
  if (parts.length > 2 || read.includes(null) || (below && below[0] === 0n)) refused(`${quotedShort(text)} is not a valid value of ${quotedShort(name)}`);
  const shown = below ? reduced(above[0] * below[1], above[1] * below[0]) : above;
  const [a, b] = record.factor.map(BigInt);
  const exact = reduced(shown[0] * a, shown[1] * b), range = beyondRange(record, exact);
  return range === null ? exact : refused(`${quotedShort(name)} is outside its range: ${range}`);
}

function refused(why) { throw new Refused(why); }

export function quotedShort(text) { return `“${shortened(text, 40)}”`; }
