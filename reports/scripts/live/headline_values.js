// What stands beside the headline: values at its population and its confidence, as `solver/answers/values_at_capacity.py`
// has them for the setting that the page begins with, and samples of the page for every other one.

import { isStated } from "../engine/answers.js";
import { percent, whole } from "../common/format.js";
import { phrase } from "../common/phrases.js";
import { limitUsed } from "../engine/limit_use.js";
import { nounOf, oneOf } from "./sentences.js";
import { CERTAINTY } from "../engine/samples.js";

// Utilizations and requirements by name, at which confidence, what limits there, up to where limits are met, and of which
// of these model errors are allowed for; null for nominal inputs.
export function besideOf(column) {
  const { written, n } = column;
  if (written && n === written.at) return { sure: written.sure, loads: written.loads, needs: written.needs, limitedBy: written.limitedBy, met: written.met, covered: written.covered };
  if (!column.isUncertain || !column.fans) return null;
  if (column.follows && column.atConfidence === undefined) return null; // the headline is of nominal inputs, and so is this
  const { solved, run } = column, needs = solved.criteria.map(({ criterion }) => criterion).filter((one) => isStated(one) && !one.isQuality && !one.hasConfidence);
  const pairs = [...solved.resources.map((one) => [one.about.load]), ...needs.map((one) => [one.measure])];
  const found = column.fans("board", pairs, Float64Array.of(n), false); // not before the frame of a change
  if (!found) return null;
  const resources = solved.resources.map((one, i) => [one.name, found[i].high[0]]);
  const required = needs.map((one, i) => [one.name, found[resources.length + i][one.atMost ? "high" : "low"][0]]);
  const values = { sure: CERTAINTY, loads: Object.fromEntries(resources), needs: Object.fromEntries(required), limitedBy: null, met: column.metAtConfidence ?? {}, covered: [] };
  run.at(n);
  if (n !== column.headlineAt || column.atConfidence === undefined) return values;
  const used = [...needs.map((one) => [one.name, limitUsed(one.atMost, values.needs[one.name], run.value(one.limit))]), ...solved.resources.map((one) => [one.name, values.loads[one.name] / run.value(one.about.target)])];
  [[values.limitedBy]] = used.sort((a, b) => b[1] - a[1]);
  return values;
}

// The words before a colon as they stand behind a heading (`as_clause` of `reports/pages/html_page.py`).
function asClause(text) { return `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/:$/, "")}`; }

// At which population all of the board is, and at which confidence.
export function besideText(column, beside) {
  const noun = nounOf(column.model), users = `${whole(column.n)} ${column.n === 1 ? oneOf(noun) : noun}`;
  const key = !beside?.sure ? "at_nominal" : (column.written ? column.written.isErrorCovered : !column.solved.known) ? "at_headline" : "at_headline.sampled";
  return asClause(phrase(key, { users, sure: percent(beside?.sure ?? 0) }));
}
