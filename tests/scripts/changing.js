// What the page calls changes, and what they cost, without a page: for Python to compare.

import { quantity } from "../../reports/scripts/common/format.js";
import { Model, Run } from "../../reports/scripts/engine/model.js";
import { changesTo, costOf } from "../../reports/scripts/live/change_wording.js";

export function wordsOf({ page, numbers, choices, costs }) {
  const model = new Model(page), setting = model.setting(0), [graph] = model.graphs(setting), run = new Run(model);
  run.prepare(graph, setting.numbers);
  const column = { model, setting, graph, run, format: (...amount) => quantity(model.units, ...amount) };
  const withNumber = ([name, above, below]) => ({ ...setting, numbers: new Map(setting.numbers).set(name, [BigInt(above), BigInt(below)]) });
  const withChoice = ([name, to]) => {
    const at = model.selects.findIndex((one) => one.name === name), pick = model.selects[at].choices.indexOf(to);
    if (pick < 0) throw new Error(`no ${to} for ${name}`);
    return { ...setting, picks: setting.picks.with(at, pick) };
  };
  const priced = ({ dimensions, ...one }) => costOf({ ...column, graph: { unpriced: ["wan"], costs: dimensions.map((dimension) => ({ dimension })) } }, one);
  return [[...numbers.map(withNumber), ...choices.map(withChoice)].map((after) => changesTo(column, after)), costs.map(priced)];
}
