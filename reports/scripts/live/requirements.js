// Requirements beside their limits, and those of them that make a quality what it is: the words of
// `reports/text/solutions/limit_reasons.py`.

import { knownAt, marked } from "../engine/certainty.js";
import { formatAgainstLimit, quantity } from "../common/format.js";
import { phrase } from "../common/phrases.js";
import { measured } from "./labels.js";

const DIGITS = 3, MAX_OF_QUALITY = 2;

const MARKS = { [phrase("mark.upper bound")]: "at most ", [phrase("mark.lower bound")]: "at least ", [phrase("mark.approximation")]: "about " };

// A number with its mark in words.
export function inWords(text) { return text.replace(/^(≤ |≥ |~ )/, (mark) => MARKS[mark]); }

// Its relation to a limit: `≤`.
export function relationOf({ strict, atMost }) { return strict ? (atMost ? "<" : ">") : atMost ? "≤" : "≥"; }

function sideOf({ strict, atMost }) {
  return phrase(strict ? (atMost ? "side.below" : "side.above") : atMost ? "side.most" : "side.least");
}

// A value beside its limit, as people write it: `297 ms (limit 300 ms)`; at a population.
export function valueAndLimit(column, criterion, population, shown = undefined) {
  const { run, model: { units } } = column;
  run.at(population);
  const value = shown ?? run.value(criterion.measure), limit = run.value(criterion.limit);
  const most = quantity(units, limit, criterion.dimension, { ...criterion, digits: DIGITS });
  const known = knownAt(run, criterion, population);
  const is = formatAgainstLimit(units, value, limit, criterion.dimension, { share: criterion.share, hasSide: !known });
  const text = marked(is, known, value);
  run.at(population); // how it is known may have asked elsewhere
  return `${text} (${sideOf(criterion)} ${most})`;
}

// Of what quality is made, the nearest to their limits at a population first; two of them are told.
function axesAt({ run, graph }, population) {
  run.at(population);
  const axes = graph.criteria.filter((one) => one.axis !== null && !one.isQuality).map((one) => [run.value(one.axis), one]);
  return axes.filter(([share]) => share > 0).sort(([a], [b]) => b - a).map(([, one]) => one);
}

export function qualityAxes(column, population) { return axesAt(column, population).slice(0, MAX_OF_QUALITY); }

// The same in a line of text.
export function namedValueAndLimit(column, criterion, population) { return `${measured(column.model, criterion.name)} ${valueAndLimit(column, criterion, population)}`; }
