// Changes in words, and what they cost, as `reports/text/changes.py` tells them; how one is written stands behind.

import { isEqual, quotient } from "../engine/fractions.js";
import { exactNumber } from "../engine/model.js";
import { number } from "../common/format.js";
import { phrase } from "../common/phrases.js";
import { called } from "./labels.js";
import { inUnit } from "./sentences.js";

const DIGITS = 4;

// Each change that leads from the setting of a column to another one.
export function changesTo(column, after) {
  const { model, setting, graph, run } = column, told = [];
  model.selects.forEach((select, i) => { if (setting.picks[i] !== after.picks[i]) told.push(choiceInWords(model, select, setting.picks[i], after.picks[i])); });
  for (const record of graph.numbers) {
    const before = run.numbers.get(record.name) ?? exactNumber(record), next = after.numbers.get(record.name);
    if (next && !isEqual(before, next)) told.push(numberInWords(model, record, before, next));
  }
  return told.join(" and ");
}

function choiceInWords(model, select, from, to) {
  const [[before, few], [after, many]] = [from, to].map((pick) => placed(select, select.choices[pick]));
  const place = called(model, select.name);
  if (select.kind === "option" || select.kind === "case") return phrase("change.option", { name: place, after: called(model, after), before: called(model, before) });
  if (before === after && few !== null) {
    if (few === 1 && many === 2) return phrase("change.second", { kind: called(model, after), place });
    return phrase(`change.${select.kind}`, { after: many, before: few, place });
  }
  const amount = (kind, count) => (count === few ? called(model, kind) : `${count} × ${called(model, kind)}`);
  return phrase("change.hardware", { after: amount(after, many), before: called(model, before), place });
}

// What a choice puts there, and how many.
function placed(select, text) {
  const [kind, count] = text.split(" * ");
  return [kind, count === undefined ? select.usual : Number(count)];
}

function numberInWords(model, record, before, after) {
  const told = (value) => number(quotient(...inUnit(record, value)), DIGITS);
  const ratio = quotient(...after) / quotient(...before);
  const isRate = record.name.endsWith(".rate") && ratio > 1;
  const kind = isRate ? "faster" : ratio === 2 ? "twice" : ratio === 1.1 ? "more" : ratio === 0.9 ? "less" : "number";
  const name = withinSentence(called(model, isRate ? record.name.slice(0, -".rate".length) : record.name), kind);
  return phrase(`change.${kind}`, { name, after: `${told(after)} ${record.unit}`.trim(), before: told(before) });
}

// A doc string within a sentence: its first word is small where it is no name.
function withinSentence(text, kind) { return kind === "number" || !/^(The|An?|What|How|Which|Who|Whether|All) /.test(text) ? text : (text[0].toLowerCase() + text.slice(1)).replace(/^the /, ""); }

// What a change costs more, of `price` NaN where nothing has one: what has none of its own may cost anything.
export function costOf(column, { price, part, way }) {
  if (price) return phrase(price > 0 ? "price.more" : "price.less", { price: column.tell(Math.abs(price), column.graph.costs[0].dimension, { digits: 3 }) });
  if (!HARDWARE.includes(way)) return "";
  const isPriced = price === 0 && way !== "more capacity" && !column.graph.unpriced.includes(part);
  return phrase(isPriced ? "price.same" : "price.none");
}

const HARDWARE = ["more machines", "other hardware", "more capacity", "together"];
