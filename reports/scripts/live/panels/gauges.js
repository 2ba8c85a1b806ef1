// Utilizations as gauges, and limits in the order in which they are reached: the rows of `reports/pages/gauge_rows.py`.

import { isStated } from "../../engine/answers.js";
import { knownAt, largestKnown, marked } from "../../engine/certainty.js";
import { draw, fill, make, table } from "../../common/dom.js";
import { formatAgainstLimit, percent, utilizationText, whole, wholePopulation } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";
import { IS_ELASTIC, isElasticallyFilled } from "./elastic_resources.js";
import { called, calledInFull } from "../labels.js";
import { limitUsed } from "../../engine/limit_use.js";
import { limitState, stateLight, utilized } from "../limit_states.js";
import { relationOf } from "../requirements.js";
import { nounOf, oneOf } from "../sentences.js";
import { withPortsTogether } from "./sections.js";

const MAX_SHOWN = 4, MAX_PARTS = 3, LEAST_PART = 0.01, MAX_LIMITS = 5, WIDEST = 100, DIGITS = 3;

const LEAST_APART = 1; // per cents between two utilizations of one bar that differ visibly

// A part of a hundred as a bar, with a tick at the target.
function meter(filled, tick, said, nominal = filled) {
  const length = (value) => `${Math.min(100, Math.max(0, value)).toFixed(2)}%`;
  return draw("svg", { class: "meter", role: "img", "aria-label": said },
    draw("rect", { class: "track", width: "100%", height: 12, y: 4 }), isApart(filled, nominal) ? draw("rect", { class: "fill more", width: length(filled), height: 12, y: 4 }) : "", draw("rect", { class: "fill", width: length(isApart(filled, nominal) ? nominal : filled), height: 12, y: 4 }),
    tick === null ? "" : draw("rect", { class: "tick", x: length(tick), width: 2, height: 20 }));
}

function isApart(filled, nominal) { return Math.min(100, filled) - nominal >= LEAST_APART; }

// What is used, and what of it with nominal inputs: the darker part of a bar of two.
function usedText(load, nominal) {
  return isApart(100 * load, 100 * nominal) ? [utilizationText(load), make("small", null, phrase("page.nominal_part", { value: utilizationText(nominal) }))] : utilizationText(load);
}

function gaugeTable(rows, at) {
  const head = ["Resource", make("span", { class: "aside" }, "Bar"), `At ${whole(at)}`, "Target", "State"];
  const made = table(head, rows.map((one) => one.cells), new Set([2, 3])), [own] = made.children;
  own.classList.add("gauges");
  rows.forEach((one, i) => own.tBodies[0].rows[i].classList.add(`is-${one.state}`));
  return made;
}

// What limits the capacity is not beyond its limit there: floats do not tell that.
function stateAt(used, isLimit) { return limitState(isLimit ? Math.min(used, 1) : used, isLimit); }

export function showGauges(column, beside) {
  const { solved, run, n, model } = column;
  if (!document.getElementById("gauges")) return;
  run.at(n);
  // The lowest limit of a utilization: its target, or what a requirement allows.
  const targetOf = (one) => Math.min(run.value(one.about.target), ...solved.criteria.map(({ criterion }) => criterion).filter((need) => isStated(need) && need.atMost && utilized(need.name) === one.name).map((need) => run.value(need.limit)));
  const loadOf = (one) => beside?.loads[one.name] ?? run.value(one.about.load);
  const used = (one) => limitUsed(true, loadOf(one), targetOf(one)) || 0;
  const limitedBy = beside ? beside.limitedBy : solved.limitedBy;
  const isLimit = (one) => n === column.headlineAt && solved.largest !== null && (limitedBy === one.name || utilized(limitedBy) === one.name);
  const rows = withPortsTogether(column, [...solved.resources].sort((a, b) => used(b) - used(a))).map(([one, name]) => {
    const nominal = run.value(one.about.load), load = loadOf(one), target = targetOf(one);
    const parts = one.about.parts.map(([part, step]) => [called(model, part), run.value(step) / nominal]).filter(([, share]) => share >= LEAST_PART).sort((a, b) => b[1] - a[1]).slice(0, MAX_PARTS);
    const made = parts.map(([part, share]) => (parts.length === 1 ? part : `${part} ${percent(share, 2)}`)).join(", ");
    const isElastic = isElasticallyFilled(run, one.about), state = isElastic ? "elastic" : stateAt(limitUsed(true, load, target), isLimit(one));
    const cells = [
      [make("span", { title: calledInFull(model, one.name) }, called(model, one.name) + name.slice(one.name.length)), make("small", null, made)],
      meter(100 * load, 100 * target, `${utilizationText(load)} of ${percent(target)}`, 100 * nominal), usedText(load, nominal), percent(target),
      isElastic ? make("span", { class: "state elastic" }, IS_ELASTIC) : stateLight(state),
    ];
    return { cells, state, used: used(one) };
  });
  const near = rows.filter((one) => one.state !== "within").length, least = Math.max(MAX_SHOWN, near), most = rows.length > least + 1 ? least : rows.length;
  const folded = rows.slice(most);
  const summary = folded.length ? phrase("page.more_resources", { count: folded.length, most: percent(folded[0].used, 2) }) : "";
  fill("gauges", rows.length ? gaugeTable(rows.slice(0, most), n) : [],
    folded.length ? make("details", { open: Boolean(document.querySelector("#gauges details[open]")) }, make("summary", null, summary), gaugeTable(folded, n)) : []);
}

// The limits in order; where not even the fewest are supported, the requirements there.
export function showLimits(column, beside) {
  if (document.getElementById("limits")?.hidden ?? true) return; // samples tell more
  const { solved, graph, model } = column, isNobody = solved.largest === null && solved.criteria.some((one) => isStated(one.criterion));
  const rows = isNobody ? requirementBars(column) : limitBars(column, beside);
  const cells = rows.map(({ name, most, length, tick, at, isSaturated }) => [[make("span", { title: calledInFull(model, name) }, isSaturated ? phrase("page.saturated", { name: called(model, name) }) : called(model, name)), make("small", null, most)], meter(length, tick, at), at]);
  const made = table(["Limit", make("span", { class: "aside" }, "Bar"), isNobody ? `At ${whole(graph.low)}` : "Reached at"], cells, new Set([2])), [own] = made.children;
  own.classList.add("limits");
  rows.forEach(({ state }, i) => own.tBodies[0].rows[i].classList.add(`is-${state}`));
  const noun = nounOf(model), users = `${whole(graph.low)} ${graph.low === 1 ? oneOf(noun) : noun}`;
  const title = isNobody ? phrase("page.requirements_at", { users }) : phrase("page.limits_in_order", { noun });
  fill("limits", rows.length ? [make("figcaption", null, title), made] : []);
}

// The first limits with the populations at which they are reached.
function limitBars(column, beside) {
  const { solved, graph, run } = column, found = new Map(), known = new Map(), sure = beside?.met ?? {}, allowed = new Map();
  run.at(column.headlineAt);
  for (const one of solved.criteria) {
    const { criterion, holds } = one;
    const name = criterion.isQuality ? "quality" : criterion.name, met = sure[name] ?? holds;
    if (isStated(criterion) && !(criterion.isQuality && graph.metric === "worst") && met !== null && met < graph.high) {
      found.set(name, met);
      if (sure[name] === undefined || !beside.covered.includes(name)) known.set(name, largestKnown([one], graph.low));
    }
    if (isStated(criterion) && !criterion.isQuality) allowed.set(name, mostAllowed(column, criterion));
  }
  for (const [one] of withPortsTogether(column, solved.resources)) {
    if (one.at === null || one.notBelow !== null) continue;
    const name = Object.keys(sure).find((other) => utilized(other) === one.name);
    if (name === undefined || sure[name] >= graph.high) found.set(one.name, found.get(one.name) ?? one.at);
    else if (!found.has(name)) found.set(one.name, sure[name]); // of a required utilization that limit alone is as reliable
  }
  const sorted = [...found].sort((a, b) => a[1] - b[1]).slice(0, MAX_LIMITS), rows = sorted.filter(([, at]) => at <= WIDEST * Math.max(1, sorted[0][1]));
  const longest = Math.max(0, ...rows.map(([, at]) => at)), targets = new Map(solved.resources.map((one) => [one.name, one.about.target]));
  // Of a resource with a required utilization, that alone limits.
  const isLimiting = (name) => name === solved.limitedBy || (utilized(solved.limitedBy) === name && !solved.criteria.some(({ criterion }) => isStated(criterion) && criterion.name === solved.limitedBy));
  const mostOf = (name) => allowed.get(name) ?? (targets.has(name) ? `≤ ${percent(run.value(targets.get(name)))}` : "");
  return rows.map(([name, at]) => ({ name, most: mostOf(name), at: marked(wholePopulation(at), known.get(name) ?? null), length: longest ? (100 * at) / longest : 0, tick: null, isSaturated: [...found.keys()].some((other) => utilized(other) === name), state: isLimiting(name) ? "limit" : "within" }));
}

// What a requirement allows, such as `≤ 100 ms`.
function mostAllowed(column, criterion) { return `${relationOf(criterion)} ${column.format(column.run.value(criterion.limit), criterion.dimension, { ...criterion, digits: DIGITS })}`; }

// Requirements beyond their limits, else all of them, as bars of how much of them is used; and what is beyond its target.
function requirementBars(column) {
  const { solved, graph, run, model } = column;
  const stated = solved.criteria.map((one) => one.criterion).filter((one) => isStated(one) && !one.isQuality && !one.hasConfidence);
  run.at(graph.low);
  const isRequired = (name) => solved.criteria.some(({ criterion }) => isStated(criterion) && utilized(criterion.name) === name);
  const overloaded = solved.resources.map(({ name, about }) => ({ name, load: run.value(about.load), target: run.value(about.target) })).filter(({ name, load, target }) => load > target && !isRequired(name))
    .map(({ name, load, target }) => ({ name, most: `≤ ${percent(target)}`, used: limitUsed(true, load, target), at: utilizationText(load) }));
  const all = stated.map((one) => {
    run.at(graph.low);
    const value = run.value(one.measure), limit = run.value(one.limit), known = knownAt(run, one, graph.low);
    return { name: one.name, most: mostAllowed(column, one), used: limitUsed(one.atMost, value, limit), at: marked(utilized(one.name) && value < limit ? utilizationText(value) : formatAgainstLimit(model.units, value, limit, one.dimension, one), known, value) };
  }).concat(overloaded).filter(({ used }) => Number.isFinite(used)).sort((a, b) => b.used - a.used);
  const beyond = all.filter(({ used }) => used > 1), rows = (beyond.length ? beyond : all).slice(0, MAX_LIMITS);
  const longest = Math.max(1, ...rows.map(({ used }) => used));
  return rows.map(({ used, ...one }) => ({ ...one, length: (100 * used) / longest, tick: 100 / longest, state: limitState(used, false) }));
}
