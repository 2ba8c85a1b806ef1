// Changes in words, and what they cost, as `reports/text/worded_changes.py` tells them (`tests/test_worded_changes.py` holds both to one table); how one is written stands behind.

import { isEqual, quotient, reduced } from "../engine/fractions.js";
import { exactNumber } from "../engine/model.js";
import { listed, number } from "../common/format.js";
import { phrase } from "../common/phrases.js";
import { named } from "./labels.js";
import { inUnit } from "./sentences.js";

const DIGITS = 4, ALL_DIGITS = 15;
const TIMES = [["twice", 2n, 1n], ["more", 11n, 10n], ["less", 9n, 10n]];

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
  const place = named(model, select.name);
  const [now, then] = apart(model, before, after);
  if (select.kind === "option" || select.kind === "case") return phrase("change.option", { name: place, after: then, before: now });
  if (before === after && few !== null) {
    if (few === 1 && many === 2) return phrase("change.second", { kind: named(model, after), place });
    return phrase(`change.${select.kind}`, { after: many, before: few, place });
  }
  return phrase("change.hardware", { after: many === few ? then : `${many} × ${then}`, before: now, place });
}

// What two things are called; as they are written where both are called alike.
function apart(model, ...names) {
  const told = names.map((name) => named(model, name));
  return told[0] === told[1] ? names : told;
}

// What a choice puts there, and how many.
function placed(select, text) {
  const [kind, count] = text.split(" * ");
  return [kind, count === undefined ? select.usual : Number(count)];
}

function numberInWords(model, record, before, after) {
  const told = (value, digits = DIGITS) => number(quotient(...inUnit(record, value)), digits);
  const digits = told(after) === told(before) ? ALL_DIGITS : DIGITS;
  const isRate = record.name.endsWith(".rate") && quotient(...after) > quotient(...before);
  const times = TIMES.find(([, above, below]) => isEqual(reduced(after[0] * below, after[1]), reduced(before[0] * above, before[1])));
  const kind = isRate ? "faster" : times?.[0] ?? "number";
  const name = withinSentence(named(model, isRate ? record.name.slice(0, -".rate".length) : record.name), kind);
  return phrase(`change.${kind}`, { name, after: `${told(after, digits)} ${record.unit}`.trim(), before: told(before, digits) });
}

// A doc string within a sentence: its first word is small where it is no name.
function withinSentence(text, kind) { return kind === "number" || !/^(The|An?|What|How|Which|Who|Whether|All) /.test(text) ? text : (text[0].toLowerCase() + text.slice(1)).replace(/^(the|an?) /, ""); }

// What a change costs more, of `prices` one for each cost that there is (once, while it runs), NaN where it is not known: what has none of its own may cost anything.
export function costOf(column, { prices, part, parts = [part], way }) {
  const { costs, unpriced } = column.graph;
  const told = prices.flatMap((price, i) => (price ? [phrase(price > 0 ? "price.more" : "price.less", { price: column.tell(Math.abs(price), costs[i].dimension, { digits: 3 }) })] : []));
  if (told.length) return listed(told);
  if (!HARDWARE.includes(way)) return "";
  const isPriced = prices.includes(0) && way !== "more capacity" && !parts.some((one) => unpriced.includes(one));
  return phrase(isPriced ? "price.same" : "price.none");
}

const HARDWARE = ["more machines", "other hardware", "more capacity", "together"];
