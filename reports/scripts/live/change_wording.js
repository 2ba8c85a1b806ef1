// Changes in words, and what they cost, as `reports/text/solutions/change_wording.py` tells them (`tests/commands/test_change_wording.py` holds both to one table); how one is written stands behind.

import { isEqual, quotient } from "../engine/numerics/fractions.js";
import { exactNumber } from "../engine/model.js";
import { listed, number, planningMoney, withUnit } from "../common/format.js";
import { phrase } from "../common/phrases.js";
import { called } from "./labels.js";
import { inUnit } from "./sentences.js";

const DIGITS = 4, ALL_DIGITS = 15;

// Each change that leads from the setting of a column to another one.
export function changesTo(column, after) {
  const { model, setting, graph, run } = column, words = [];
  model.selects.forEach((select, i) => { if (setting.picks[i] !== after.picks[i]) words.push(choiceInWords(model, select, setting.picks[i], after.picks[i])); });
  for (const record of graph.numbers) {
    const before = run.numbers.get(record.name) ?? exactNumber(record), next = after.numbers.get(record.name);
    if (next && !isEqual(before, next)) words.push(numberInWords(record, record.limit ? called(model, record.name) : record.name, before, next));
  }
  return words.join(" and ").replaceAll(" -> ", " → ");
}

function choiceInWords(model, select, from, to) {
  const [[before, few], [after, many]] = [from, to].map((pick) => placed(select, select.choices[pick]));
  const { name } = select;
  if (before === after && few !== null) return phrase(COUNTED[select.kind], { name, before: few, after: many });
  return phrase("change.value", { name, before, after: many === few ? after : `${after} * ${many}` });
}

const COUNTED = { machine: "change.servers", network: "change.links" };

// What a choice puts there, and how many.
function placed(select, text) {
  const [kind, count] = text.split(" * ");
  return [kind, count === undefined ? select.usual : Number(count)];
}

function numberInWords(record, name, before, after) {
  const written = (value, digits = DIGITS) => number(quotient(...inUnit(record, value)), digits);
  const digits = written(after) === written(before) ? ALL_DIGITS : DIGITS;
  const unit = record.unit === record.name.split(".").at(-1).replace(/s$/, "") ? "" : record.unit; // `web.cpu.cores: 4 -> 8`
  const perOne = unit.replace(/ *\/ *1 +(?=\w+$)/, "/"); // `request / 1 minute`
  return phrase("change.value", { name, before: written(before, digits), after: withUnit(written(after, digits), perOne) });
}

// What a change costs more, of `prices` one for each cost that there is (once, while it runs), NaN where it is not known: what has none of its own may cost anything.
export function costOf(column, { prices, part, parts = [part], kind }) {
  const { costs, unpriced } = column.graph;
  const costTexts = prices.flatMap((price, i) => (price ? [phrase(price > 0 ? "price.more" : "price.less", { price: planningMoney(column.model.units, Math.abs(price), costs[i].dimension) })] : []));
  if (costTexts.length) return listed(costTexts);
  if (!HARDWARE.includes(kind)) return "";
  const isPriced = prices.includes(0) && kind !== "more capacity" && !parts.some((one) => unpriced.includes(one));
  return phrase(isPriced ? "price.same" : "price.none");
}

// The same where something has a price: where nothing has one, the first screen says how to set it.
export function shownCost(column, change) {
  const cost = costOf(column, change);
  return column.graph.costs.length || cost !== phrase("price.none") ? cost : "";
}

const HARDWARE = ["more machines", "other hardware", "more capacity", "together"];
