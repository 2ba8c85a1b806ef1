// How numbers are known: exactly, as a bound, by an approximation. A record's `certainty` is null for
// what is exact, else its kind and its reasons. The rules are those of `solver/answers/answer_certainty.py`.

import { ROUNDING } from "./numerics/search.js";
import { listed, whole } from "../common/format.js";
import { phrase } from "../common/phrases.js";

const KINDS = ["upper bound", "lower bound", "approximation", "simulated"];

// A number as it is told; what has no finite value needs no mark.
export function marked(text, known, value = 0) { return known && Number.isFinite(value) ? phrase(`mark.${known[0]}`) + text : text; }

export function usersKnown(known) { return phrase(`users.${known ? known[0] : "exact"}`); }

// A number of users; where the range ends there may be more.
export function formatUsers({ largest, isRange, known }) {
  if (!isRange) return marked(whole(largest), known);
  return known ? marked(whole(largest), ["approximation", known[1]]) : phrase("at_least", { users: whole(largest) });
}

export function inParenthesis(known) { return known ? ` (${known[0]})` : ""; }

// -- losses in series ----------------------------------------------------------------------

// For each stream the resources that may lose less of it than is told at a population: those in a
// row that are overloaded, and whatever meets them; and all that are overloaded
// (`compiler/lower/requirements/serial_losses.py`).
function inSeriesAt(run, population) {
  const { graph, numbers } = run, cached = lastInSeries.get(run);
  if (cached && cached.numbers === numbers && cached.graph === graph && cached.population === population) return cached.found;
  const found = inSeries(run, population);
  lastInSeries.set(run, { graph, numbers, population, found });
  return found;
}

const lastInSeries = new WeakMap(); // of a run: exact fractions take long, and all that is told at a population asks

function inSeries(run, population) {
  const { graph } = run;
  const several = graph.streams.filter((one) => one.saturating.length);
  if (!several.some((one) => one.saturating.length > 1)) return { streams: new Map(), overloaded: new Set() };
  run.at(population);
  const overloaded = new Set(graph.resources.filter((one) => isOverloaded(run, one, population)).map((one) => one.name));
  const passed = several.map((one) => [one.name, one.saturating.filter((name) => overloaded.has(name))]);
  const thinned = new Set(passed.flatMap(([, names]) => (names.length > 1 ? names : [])));
  const streams = new Map(passed.map(([stream, names]) => [stream, names.filter((name) => thinned.has(name))]).filter(([, names]) => names.length));
  return { streams, overloaded };
}

// Whether a load may be above 1; next to it floats do not tell, exact fractions do.
function isOverloaded(run, resource, population) {
  const load = run.value(resource.load);
  if (Math.abs(load - 1) > ROUNDING) return load > 1;
  const exact = run.exactValue(resource.load, population);
  return exact ? exact[0] > exact[1] : true;
}

// How a criterion, a measure or the quality is known at a population.
export function knownAt(run, { known, knownInSeries, waitsOf }, population) {
  if (JSON.stringify(known) === JSON.stringify(knownInSeries)) return known;
  const { streams, overloaded } = inSeriesAt(run, population);
  return streams.size || areThinned(run.graph, waitsOf ?? [], overloaded) ? knownInSeries : known;
}

// Whether less comes to what some streams wait for than its load counts: others lose some of it.
function areThinned({ streams }, waiting, overloaded) {
  const passes = ({ saturating }) => saturating.some((name) => overloaded.has(name));
  const thinned = new Set(streams.filter(passes).flatMap((one) => one.saturating));
  return streams.some((one) => waiting.includes(one.name) && !passes(one) && one.saturating.some((name) => thinned.has(name)));
}

// How what a stream loses is known at a population, and what arrives of it.
export function lossKnown(run, stream, measure, population) {
  const names = inSeriesAt(run, population).streams.get(stream.name);
  if (!names) return null;
  const reason = `the utilization of ${listed(names.map((name) => `\`${name}\``))} includes traffic lost at other resources`;
  return [measure === "loss" ? "upper bound" : "lower bound", [reason]];
}

const OTHER_SIDE = { "upper bound": "lower bound", "lower bound": "upper bound" };

// How what falls as a number grows is known.
export function turned(known) { return known && [OTHER_SIDE[known[0]] ?? known[0], known[1]]; }

// How a value is known that grows with each of its parts, such as their sum.
export function together(parts) {
  const uncertain = parts.filter((known) => known);
  if (!uncertain.length) return null;
  const kinds = new Set(uncertain.map(([kind]) => kind));
  return [kinds.size === 1 ? uncertain[0][0] : "approximation", [...new Set(uncertain.flatMap(([, reasons]) => reasons))]];
}

// By how much a criterion is over its limit, and where it is on its axis of quality: how that is known.
export function knownOver({ known, atMost }) { return atMost ? known : turned(known); }

function kindOver(criterion) { return knownOver(criterion)?.[0] ?? "exact"; }

function isOptimisticSide(criterion) { return !["exact", "upper bound"].includes(kindOver(criterion)); }

function isConservativeSide(criterion) { return !["exact", "lower bound"].includes(kindOver(criterion)); }

// How the last population is known before the first at which any of some criteria fails.
export function largestKnown(judged, low) {
  const end = Math.min(...judged.map((one) => one.failure ?? Infinity));
  const first = end === Infinity ? [] : judged.filter((one) => one.failure === end).map((one) => ({ ...one.criterion, known: one.knownThere }));
  const mild = end === low ? [] : judged.map((one) => one.criterion).filter(isOptimisticSide);
  const mayBeMore = first.length > 0 && first.every(isConservativeSide);
  if (!mayBeMore && !mild.length) return null;
  const reasons = [...(mayBeMore ? first : []), ...mild].flatMap((one) => one.known[1]);
  return [mayBeMore ? (mild.length ? "approximation" : "lower bound") : "upper bound", [...new Set(reasons)]];
}

// The same where some criteria are not judged: capacity may be lower.
export function knownWithout(unevaluated, known) {
  if (!unevaluated.length) return known;
  const reasons = unevaluated.map((one) => `${one.name} is evaluated by sampling, which this page does not do: run qps solve`);
  const kind = !known || known[0] === "upper bound" ? "upper bound" : "approximation";
  return [kind, [...new Set([...(known?.[1] ?? []), ...reasons])]];
}

// How it is known where a resource saturates: where that is undecided, up to where it does not.
function saturationKnown({ model }, { name, at, notBelow }) {
  if (notBelow === null) return null;
  return [at === null ? "lower bound" : "upper bound", [`saturation of \`${name}\` is ruled out up to ${model.population} = ${whole(notBelow)}, but undecided above`]];
}

// -- in words ----------------------------------------------------------------------------

const MAX_NAMES = 6;

// What is not exact at the setting shown, with its reasons once, and that the rest is.
export function knownText(column) {
  const { solved, graph, run, n } = column;
  run.at(n);
  const parts = [
    ...graph.criteria.filter((one) => one.stated).map((one) => [one.name, knownAt(run, one, n)]),
    ...(graph.quality === null ? [] : [["quality", knownAt(run, graph.qualityKnown, n)]]),
    ...graph.streams.map((one) => [`${one.name}.latency`, one.latencyKnown]),
    ...graph.streams.filter((one) => run.value(one.jitter) !== 0).map((one) => [`${one.name}.jitter`, one.jitterKnown]),
    ...graph.streams.flatMap((one) => ["loss", "throughput"].map((measure) => [`${one.name}.${measure}`, lossKnown(run, one, measure, n)])),
    ...graph.measures.map((one) => [one.name, knownAt(run, one, n)]),
    ...solved.resources.map((one) => [`saturation(${one.name})`, saturationKnown(column, one)]),
  ];
  const uncertain = new Map(parts.filter(([, known]) => known));
  if (!solved.known && !uncertain.size) return phrase("all_exact");
  const lines = [];
  const ports = new Map(solved.resources.map((one) => [one.name, one.about.portOf]));
  if (solved.known && solved.verdict !== "nowhere") {
    lines.push(`Capacity is ${phrase(`served.is.${solved.known[0]}`)} (${phrase(`bound.${solved.known[0]}`)}).`);
  }
  const unevaluated = new Set([solved, ...solved.modes].flatMap((one) => one.unevaluated).map((one) => one.name));
  if (unevaluated.size) lines.push(`Not evaluated on this page: ${listed([...unevaluated])}. A requirement with a confidence level is evaluated by sampling: run qps solve.`);
  for (const kind of KINDS) {
    const alike = [...uncertain].filter(([, known]) => known[0] === kind);
    if (!alike.length) continue;
    const names = alike.map(([name]) => name);
    const shown = [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : [])];
    const what = names.length > 1 ? `are ${kind}s` : `is ${withArticle(kind)}`;
    const reasons = [...new Set(alike.flatMap(([, known]) => known[1]))];
    lines.push(`${listed(shown)} ${what} (${phrase(`truth.${kind}`)}): ${mergedReasons(reasons, ports).join("; ")}.`);
  }
  return [...lines, phrase("others_exact")].join(" ");
}

function withArticle(kind) { return `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`; }

const QUOTED = /`[^`]+`(?:(?:, `[^`]+`)* and `[^`]+`)?/g;

const MAX_PORTS = 4; // of a switch that are told one by one: those of two nodes, out and in
const MAX_PORTS_IN_ALL = 12; // of all such switches

// Tells whether the ports of a switch are told as one; the links of all ports that are told, null for what is no port.
export function portGrouping(links) {
  const counts = new Map();
  for (const link of links) if (link !== null) counts.set(link, (counts.get(link) ?? 0) + 1);
  const few = [...counts.values()].filter((count) => count <= MAX_PORTS).reduce((sum, count) => sum + count, 0);
  const most = few <= MAX_PORTS_IN_ALL ? MAX_PORTS : 1;
  return (link) => (counts.get(link) ?? 0) > most;
}

// Names, those of many ports of a switch as one.
function withoutPorts(names, ports) {
  const links = names.map((name) => ports.get(name) ?? null);
  const isAsOne = portGrouping(links);
  return [...new Set(names.map((name, index) => {
    const link = links[index];
    return isAsOne(link) ? `${links.filter((other) => other === link).length} ports of ${link}` : name;
  }))];
}

// Reasons that say the same of several names as one; on the page names stand without quotes.
function mergedReasons(reasons, ports) {
  const alike = new Map();
  for (const reason of reasons) {
    const found = reason.match(QUOTED) ?? [];
    const key = found.length === 1 ? reason.replace(QUOTED, "``") : reason;
    const names = found.length === 1 ? found[0].match(/[^`]+(?=`(?:,| and|$))/g) : [];
    alike.set(key, new Set([...(alike.get(key) ?? []), ...names]));
  }
  return [...alike].map(([key, names]) => key.replace("``", () => listed(withoutPorts([...names], ports))).replaceAll("`", ""));
}
