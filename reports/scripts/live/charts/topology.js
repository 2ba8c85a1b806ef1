// The system as a drawing: the way of a request through it with where its time goes, or how full
// everything is and what of that is a stream's. Boxes and lines stand where the page says.

import { together, marked } from "../../engine/certainty.js";
import { color, draw, make } from "../../common/dom.js";
import { percent, shortened, utilizationText, whole } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";
import { scaleColor, scaleInk, scaleLegend } from "../../common/scale.js";
import { IS_ELASTIC, isElasticallyFilled } from "../panels/elastic_resources.js";
import { called, calledInFull, labeled } from "../labels.js";
import { counted } from "../sentences.js";
import { byPlace, SPENT, SPENT_HEADINGS, timeSpentLabel, streamOf, isVisible, requestPathOf } from "./request_path.js";

const ROUNDINGS = 1e-9; // what is at its target is not beyond
const BAR = 9, LETTER = 7.4, SMALL_LETTER = 6.4;
const THERE = 1, BACK = 2;
const BY_TIME = "where its time goes", BY_LOAD = "what it loads"; // as links have them
const BY = { [BY_TIME]: "share of latency", [BY_LOAD]: "utilization" };

export function drawTopology(column, width, { stream: choice, by }) {
  const { model, run, graph } = column;
  const { places, joins, layouts, high } = model.topology;
  if (!places.length) return null;
  const stream = streamOf(column, choice);
  by.update(stream ? [BY_TIME, BY_LOAD] : [BY_LOAD], undefined, (key) => BY[key]);
  run.at(column.n);
  const layout = layouts.findLast((one) => one.width <= width) ?? layouts[0];
  const way = stream && requestPathOf(run, stream), times = way ? byPlace(way) : new Map();
  const picture = { column, stream, way, isTime: by.value === BY_TIME, layout, high, longest: Math.max(...[...times.values()].map((one) => one.value).filter(Number.isFinite), 0) };
  const passed = new Set(stream?.route.places ?? places.keys());
  const boxes = places.map(([name, kind], i) => aboutPlace(picture, name, kind, i, { time: times.get(name), isPassed: passed.has(i) }));
  const { n } = column, at = counted(n, model);
  const latency = way && marked(column.format(way.total, "s"), stream.latencyKnown, way.total);
  const title = !stream ? `Utilization at ${at}`
    : picture.isTime ? phrase("page.request_path", { stream: called(model, stream.name), at, latency }) : `Utilization by ${called(model, stream.name)} at ${at}`;
  const svg = draw("svg", { viewBox: `0 0 ${layout.width} ${layout.height}`, width: layout.width, class: "chart system", role: "img", "aria-label": title },
    definitions(KEY), linesOf(picture, joins, stream), boxes.map((box) => drawnBox(picture, box)));
  const order = [...new Set([...(stream?.route.places ?? []), ...places.keys()])].map((i) => boxes[i]);
  return {
    title, svg, readout: boxReadout(svg, order.map((box) => ({ ...box.frame, text: boxLabel(picture, box) }))), legend: [...legendOf(picture, graph), ...givingLegend(boxes)],
    table: () => tableOf(picture, order),
  };
}

// -- what there is to tell of a place ------------------------------------------------------------

function aboutPlace({ column, stream, layout, high }, name, kind, i, more) {
  const { run } = column;
  const [x, y] = layout.corners[i];
  const loads = resourcesAt(column)[i].map(([label, about]) => {
    const load = run.value(about.load), own = stream && (about.streams ?? about.parts).find(([of]) => of === stream.name);
    return { name: label, load, own: own ? run.value(own[1]) : 0, isOver: run.value(about.over) > ROUNDINGS, gives: isElasticallyFilled(run, about) };
  }).sort((a, b) => b.load - a.load);
  return { name, kind, what: placedKind(column, name), loads, frame: { x, y, w: layout.box, h: high }, ...more };
}

// The resources at each place, and the ports of a switch at what they are ports to, as they are told there; found once.
function resourcesAt({ model, graph }) {
  if (graph.atPlaces) return graph.atPlaces;
  const { places } = model.topology, found = places.map(() => []);
  for (const about of graph.resources) {
    const { name, at: [place, ...machine] } = about;
    found[place].push([name.slice(places[place][0].length + 1), about]);
    for (const other of machine) found[other].push([name, about]);
  }
  graph.atPlaces = found;
  return found;
}

function placedKind({ model, setting }, name) {
  const index = model.selects.findIndex((one) => one.name === name && one.kind !== "option");
  return index < 0 ? model.fixedPlaces[name] ?? "" : model.selects[index].choices[setting.picks[index]];
}

function loadLabel(one, written = percent) { return `${one.name ? `${one.name} ` : ""}${written(one.load)}`; }

// Of the load of a resource what is the stream's: nothing where it asks nothing of it.
function shareLabel({ stream }, { load, own }) { return own > 0 ? `${percent(Math.min(1, own / load))} by ${stream.name}` : ""; }

function remainderLabel(loads, room) {
  const rest = loads.slice(1);
  if (!rest.length) return "";
  const many = `… ${rest.length} more`, all = `${many} below ${whole(Math.floor(rest[0].load * 100) + 1)} %`;
  return all.length <= room ? all : many;
}

function ownTime({ column }, { value, known }) { return marked(column.format(value, "s", { digits: 3 }), together(known), value); }

function timeLabel(picture, time) { return `${ownTime(picture, time)}, ${shareOf(picture.way, time.value)}`; }

function shareOf(way, value) { return percent(Number.isFinite(way.total) ? value / (way.total || 1) : Number(value === way.total)); }

function boxLabel(picture, { name, what, loads, time, isPassed }) {
  const { column, stream, way } = picture;
  const passing = time ? `${time.numbers.length ? `step ${time.numbers.join(", ")}: ` : ""}${marked(column.format(time.value, "s"), together(time.known), time.value)}, ${shareOf(way, time.value)} of latency (${timeSpentLabel(time, (v) => column.format(v, "s"))})`
    : stream && isPassed ? `no latency for ${called(column.model, stream.name)}` : "";
  const full = loads.map((one) => `${loadLabel(one)}${one.gives ? `: ${IS_ELASTIC}` : ""}${shareLabel(picture, one) ? ` (${shareLabel(picture, one)})` : ""}`);
  return `${calledInFull(column.model, name)}${what ? `, ${calledInFull(column.model, what)}` : ""}: ${[passing, full.join(", ") || "idle"].filter(Boolean).join("; ")}`;
}

function tableOf(picture, order) {
  const { column, stream, way } = picture;
  const timeText = (v) => (v && isVisible(way, v) ? column.format(v, "s") : "");
  const rows = order.map(({ name, what, loads, time }) => [
    labeled(column.model, name), labeled(column.model, what), ...(stream ? [time?.numbers.join(", ") ?? "", time ? marked(column.format(time.value, "s"), together(time.known), time.value) : "", time ? shareOf(way, time.value) : "", ...Object.keys(SPENT).map((word) => timeText(time?.[word]))] : []),
    loads.map((one) => loadLabel(one)).join(", "), ...(stream ? [loads.filter((one) => one.own > 0).map((one) => `${one.name ? `${one.name} ` : ""}${percent(Math.min(1, one.own / one.load))}`).join(", ")] : []),
  ]);
  return { head: ["Place", "Machine or network", ...(stream ? ["Steps", "Time", "Share of latency", ...SPENT_HEADINGS] : []), "Utilization", ...(stream ? [`Share of ${called(column.model, stream.name)}`] : [])], rows };
}

// -- how it is drawn -----------------------------------------------------------------------------

// What time is spent with can be distinguished without color, too: work is filled, waiting is hatched, the rest is dotted.
export function definitions(key) {
  const pattern = (id, size, ...inside) => draw("pattern", { id: `${id}-${key}`, width: size, height: size, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, ...inside);
  return draw("defs", null,
    pattern("waits", 6, draw("rect", { width: 6, height: 6, fill: "var(--paper)" }), draw("rect", { width: 3, height: 6, fill: color(1) })),
    pattern("fixed", 5, draw("rect", { width: 5, height: 5, fill: "var(--paper)" }), draw("circle", { cx: 2.5, cy: 2.5, r: 1.2, fill: color(6) })),
    pattern("others", 5, draw("rect", { width: 5, height: 5, fill: "var(--paper)" }), draw("rect", { width: 1.5, height: 5, fill: "var(--ink)" })),
    draw("marker", { id: `arrow-${key}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, draw("path", { d: "M0,0L8,4L0,8z", class: "head" })));
}

export function fillsOf(key) { return { work: color(0), wait: `url(#waits-${key})`, delay: `url(#fixed-${key})` }; }

const KEY = "drawing", FILLS = fillsOf(KEY), ARROW = `url(#arrow-${KEY})`, OTHERS = `url(#others-${KEY})`;

// A bar of segments, each [fill, width].
export function segments(x, y, height, parts) {
  let left = x;
  return parts.filter(([, width]) => width > 0).map(([fill, width]) => {
    const drawn = draw("rect", { x: left, y, width, height, fill, class: "segment" });
    left += width;
    return drawn;
  });
}

// Joins that are not passed lie below those that are.
function linesOf({ layout }, joins, stream) {
  const passed = new Map(stream?.route.joins ?? []);
  const order = [...joins.keys()].sort((a, b) => passed.has(a) - passed.has(b));
  return order.map((i) => {
    const d = `M${layout.lines[i].map((corner) => corner.join()).join("L")}`, way = passed.get(i);
    return draw("path", { d, class: way ? "join passed" : stream ? "join aside" : "join", "marker-end": way & THERE ? ARROW : null, "marker-start": way & BACK ? ARROW : null });
  });
}

function drawnBox(picture, box) {
  const { isTime, way, column: { model } } = picture, { name, loads, time, isPassed, frame: { x, y, w, h } } = box;
  const highest = loads.find((one) => Number.isFinite(one.load))?.load ?? 0, isOver = loads.some((one) => one.isOver);
  const isFilled = !isTime && loads.length > 0;
  const fits = (text, letter = SMALL_LETTER) => shortened(text, (w - 14) / letter);
  const what = called(model, box.what);
  const ink = isFilled ? scaleInk(Math.min(highest, 1)) : isPassed ? "var(--ink)" : "var(--soft)";
  const line = (text, below, more) => text && draw("text", { x: x + 7, y: y + below, class: "own small", ...more }, fits(text));
  const steps = isTime && time?.numbers.length ? stepsLabel(time.numbers) : "";
  const fullest = loads.length ? loadLabel(loads[0], utilizationText) : "", rest = remainderLabel(loads, (w - 14) / SMALL_LETTER);
  return draw("g", { fill: ink, class: isPassed ? "box" : "box aside", "data-place": name },
    draw("rect", { x, y, width: w, height: h, rx: box.kind === "link" ? 14 : 4, class: isOver ? "place saturated" : loads.some((one) => one.gives) ? "place gives" : "place", fill: isFilled ? scaleColor(Math.min(highest, 1)) : "var(--paper)" }),
    isTime && time && tint(time, way, { x, y, width: w, height: h, rx: box.kind === "link" ? 14 : 4 }),
    nameText(called(model, name), (w - 14 - 8 * steps.length) / LETTER, { x: x + 7, y: y + 17, class: "own name" }, calledInFull(model, name)),
    steps && draw("text", { x: x + w - 7, y: y + 17, class: "own steps", "text-anchor": "end" }, steps),
    (rest ? [withKind(fullest, what, (w - 14) / SMALL_LETTER), rest] : [fullest, what]).filter(Boolean).map((text, i) => line(text, 32 + 14 * i)),
    isTime ? time && line([timeLabel(picture, time), ownTime(picture, time)].find((text) => text.length * SMALL_LETTER <= w - 14) ?? ownTime(picture, time), 62) : loads.length > 0 && line(shareLabel(picture, loads[0]), 62),
    barOf(picture, box));
}

// A name, smaller where it is longer than its room, and cut only where it would not be read.
function nameText(name, room, place, inFull) {
  const [kind, size] = NAME_SIZES.find(([, part]) => name.length <= room / part) ?? NAME_SIZES.at(-1);
  return draw("text", { ...place, class: `${place.class}${kind}` }, shortened(name, room / size), draw("title", null, inFull));
}
const NAME_SIZES = [["", 1], [" smaller", 11 / 13], [" smallest", 9 / 13]]; // classes of `charts.css`

// What is busiest and what stands there, which is left out where it would be cut.
function withKind(fullest, what, room) {
  const both = [fullest, what].filter(Boolean).join(" · ");
  return both.length <= room ? both : fullest || what;
}

// One or two steps by their numbers, more by how many they are.
function stepsLabel(numbers) { return numbers.length > 2 ? `${numbers.length} ×` : numbers.join(", "); }

// The more of the time is spent here the darker, in the color of what most of it is.
function tint(time, way, frame) {
  const share = Number.isFinite(way.total) ? time.value / (way.total || 1) : Number(time.value === way.total);
  const most = Object.keys(SPENT).reduce((best, word) => (time[word] > time[best] ? word : best), "work");
  return draw("rect", { ...frame, fill: color({ work: 0, wait: 1, delay: 6 }[most]), "fill-opacity": 0.04 + 0.36 * Math.min(1, share) });
}

function barOf({ isTime, longest }, { loads, time, frame: { x, y, w, h } }) {
  const room = w - 14, left = x + 7, top = y + h - BAR - 5;
  if (isTime) {
    if (!time?.value) return null;
    const isEndless = !Number.isFinite(time.value);
    return segments(left, top, BAR, Object.keys(SPENT).map((word) => [FILLS[word], isEndless ? room * Number(!Number.isFinite(time[word])) : Math.max(0, time[word]) / longest * room]));
  }
  const fullest = loads[0];
  if (!fullest || !Number.isFinite(fullest.load)) return null;
  const part = (v) => Math.min(1, Math.max(0, v)) * room, own = Math.min(part(fullest.own), part(fullest.load));
  return [draw("rect", { x: left, y: top, width: room, height: BAR, fill: "var(--paper)", class: "segment" }), ...segments(left, top, BAR, [[color(0), own], [OTHERS, part(fullest.load) - own]])];
}

function swatch(fill) { return draw("svg", { width: 26, height: 12, "aria-hidden": "true" }, draw("rect", { width: 26, height: 12, fill, class: "segment" })); }

export function spentLegend(way, fills) {
  const present = Object.entries(SPENT).filter(([word]) => way.rows.some((row) => row.spent?.[word] > 0));
  return present.map(([word, name]) => make("li", null, swatch(fills[word]), name));
}

function givingLegend(boxes) {
  if (!boxes.some((box) => box.loads.some((one) => one.gives))) return [];
  return [make("li", null, draw("svg", { width: 26, height: 12, "aria-hidden": "true" }, draw("rect", { x: 2, y: 2, width: 22, height: 8, fill: "none", class: "place gives" })), IS_ELASTIC)];
}

function legendOf({ isTime, stream, way }) {
  if (isTime) return [...spentLegend(way, FILLS), make("li", null, "darker: larger share of latency; numbers are the steps below")];
  if (!stream) return scaleLegend();
  return [...scaleLegend(), make("li", null, swatch(color(0)), `busiest resource: ${stream.name}`), make("li", null, swatch(OTHERS), "other streams")];
}

// A box is told under the pointer or by arrow keys, those on the way first.
function boxReadout(svg, boxes) {
  const ring = draw("rect", { class: "rule focus", fill: "none", rx: 6, visibility: "hidden" });
  svg.append(ring);
  return {
    count: boxes.length,
    describe(index) {
      const { x, y, w, h, text } = boxes[index];
      for (const [name, value] of Object.entries({ x: x - 3, y: y - 3, width: w + 6, height: h + 6, visibility: "visible" })) ring.setAttribute(name, value);
      return text;
    },
    nearest(clientX, clientY) {
      const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
      const x = (clientX - box.left) * scale, y = (clientY - box.top) * scale;
      const away = (one) => Math.hypot(Math.max(one.x - x, 0, x - one.x - one.w), Math.max(one.y - y, 0, y - one.y - one.h));
      return boxes.reduce((best, one, i) => (away(one) < away(boxes[best]) ? i : best), 0);
    },
    hide() { ring.setAttribute("visibility", "hidden"); },
  };
}
