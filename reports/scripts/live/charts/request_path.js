// The way of an item of a stream at the population shown: when it is where, and whether it is worked
// on there, waits, or takes a time that is always the same.

import { together } from "../../engine/certainty.js";
import { fill } from "../../common/dom.js";
import { percent } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";
import { called } from "../labels.js";

const NOTHING = 1e-6; // of the latency: what is less is not told

export function isVisible({ total }, value) { return value > (Number.isFinite(total) ? NOTHING * total : 0); }

// What time is spent with, as it is told and drawn; a link that sends works, too.
export const SPENT = { work: phrase("page.spent.work"), wait: phrase("page.spent.wait"), delay: phrase("page.spent.delay") };
export const SPENT_HEADINGS = Object.values(SPENT).map((name) => name[0].toUpperCase() + name.slice(1));
const SPENT_WITH = { work: "work", transfer: "work", wait: "wait", delay: "delay" };

// The stream that is chosen, at first the one that is required to be quick; null where no stream has a way that takes time.
export function streamOf({ graph }, choice) {
  const streams = graph.streams.filter((one) => one.path.length);
  if (!streams.length) return null;
  choice.update(streams.map((one) => one.name), (graph.streams[graph.drawn] ?? streams[0]).name);
  return streams.find((one) => one.name === choice.value);
}

// The rows of a way, in order: a call, calls made together, or a stop at a place with the stages that
// it has there. `often` tells how often a row is passed by an item on average.
export function requestPathOf(run, stream) {
  const rows = [], steps = stream.path;
  let at = 0, number = 0;
  const line = (depth, start, often) => {
    let now = start;
    while (at < steps.length && steps[at].depth === depth) now = passed(depth, now, often);
    return now;
  };
  const passed = (depth, start, often) => {
    const step = steps[at], value = run.value(step.value);
    if (step.apart && value === 0) { // such as a queue that does not grow without end
      at++;
      return start;
    }
    const row = { kind: step.kind, depth, name: step.name, known: step.known, start, often };
    if (step.kind !== "call" && step.kind !== "together") {
      const last = rows.at(-1), name = step.apart || !step.place ? step.name : step.place;
      const isSame = last?.kind === "stop" && last.depth === depth && last.name === name;
      const stop = isSame ? last : { ...row, kind: "stop", place: step.place, name, stages: [], end: start, times: 1, known: null };
      if (!isSame) rows.push(stop);
      stop.stages.push({ name: step.name, with: SPENT_WITH[step.kind], value, known: step.known });
      stop.end += value;
      at++;
      return stop.end;
    }
    rows.push(row);
    at++;
    if (step.kind === "call") {
      Object.assign(row, { times: value, often: often * value });
      row.end = line(depth + 1, start, row.often);
    } else {
      Object.assign(row, { times: 1, end: start + value });
      while (at < steps.length && steps[at].depth === depth + 1) passed(depth + 1, start, often);
    }
    return row.end;
  };
  const end = line(0, 0, 1), total = run.value(stream.latency);
  for (const row of rows.filter((one) => one.kind === "stop")) {
    row.known = together(row.stages.map((one) => one.known));
    row.spent = spentIn(row.stages);
    row.value = row.stages.reduce((sum, one) => sum + one.value, 0);
    if (isVisible({ total }, row.value)) row.number = ++number;
  }
  for (const row of rows) row.value ??= row.end - row.start;
  return { stream, rows, total, end };
}

export function spentIn(stages) {
  const found = { work: 0, wait: 0, delay: 0 };
  for (const one of stages) found[one.with] += one.value;
  return found;
}

// What all stops at each place come to; `numbers` are those of its stops. What is called together takes as long as the
// slowest: so the sum may be more than the latency.
export function byPlace(way) {
  const found = new Map();
  for (const row of way.rows) {
    if (row.kind !== "stop" || !row.place) continue;
    const all = found.get(row.place) ?? { work: 0, wait: 0, delay: 0, value: 0, numbers: [], known: [] };
    for (const [word, value] of Object.entries(row.spent)) all[word] += value;
    all.value += row.value;
    all.known.push(row.known);
    if (row.number) all.numbers.push(row.number);
    found.set(row.place, all);
  }
  return found;
}

const WHOLE = 1 + 1e-9, LEAST_SAID = 0.001; // of the time at a place: a smaller part is not named

// The same of the stream that is chosen, beside the heading of its path.
export function showPathConclusion(column, choice) {
  const stream = streamOf(column, choice);
  fill("of-system", stream ? pathConclusion(column, requestPathOf(column.run.at(column.n), stream)) : "");
}

// Where most of the latency is spent, and with what; what is called together may be none of it. The same words as
// `reports/pages/drawings/system_picture.py` has.
export function pathConclusion({ model }, way) {
  const { stream, total } = way, places = [...byPlace(way)].map(([place, { work, wait, delay }]) => ({ place, spent: { work, wait, delay }, value: work + wait + delay }));
  if (!Number.isFinite(total) || !(total > 0) || !places.length) return "";
  const { place, spent, value } = places.reduce((most, one) => (one.value > most.value ? one : most));
  if (value > WHOLE * total) return "";
  const parts = Object.keys(SPENT).filter((word) => spent[word] > LEAST_SAID * value).sort((a, b) => spent[b] - spent[a]);
  const written = parts.map((word) => `${percent(spent[word] / total, 2)} ${SPENT[word]}`).join(", ");
  return phrase("way.most", { share: percent(value / total, 2), stream: called(model, stream.name), place: called(model, place), spent: parts.length === 1 ? SPENT[parts[0]] : written });
}

// A time with what it is spent with: `12 ms: 2 ms queueing delay, 10 ms service time`.
export function timeSpentLabel(spent, format) {
  const parts = Object.entries(SPENT).filter(([word]) => spent[word] > 0);
  return parts.length > 1 ? parts.map(([word, name]) => `${format(spent[word])} ${name}`).join(", ") : parts.map(([, name]) => name).join("");
}
