// The machines and networks as a drawing, each coloured by how heavily it is loaded.

import { draw, make } from "../common/dom.js";
import { percent, shortened, whole } from "../common/format.js";
import { pointReadout } from "../common/picture.js";
import { laidOut } from "./layers.js";

const LINE = 17;
const MOST_LOADS = 5;
const ROUNDINGS = 1e-9; // what is at its target is not beyond

export function drawTopology(column, width) {
  const { model, solved, run } = column;
  const { places, joins } = model.topology;
  if (!places.length) return null;
  run.at(column.n);
  const about = new Map(places.map(([name, kind]) => {
    const own = solved.resources.filter((one) => one.name === name || one.name.startsWith(`${name}.`));
    return [name, { kind, what: placedKind(model, column.setting, name), loads: own.map((one) => ({ name: one.name.slice(name.length + 1), load: run.value(one.about.load), isOver: run.value(one.about.over) > ROUNDINGS })) }];
  }));
  const lines = (name) => Math.max(1, Math.min(about.get(name).loads.length, MOST_LOADS));
  const { boxes, lines: ways, height } = laidOut(places, joins, width, (name) => 44 + LINE * lines(name));
  const title = `Machines and networks, coloured by their load at ${model.population} = ${whole(column.n)}`;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "chart", role: "img", "aria-label": title },
    ways.map((d) => draw("path", { d, class: "join" })));
  const points = [];
  for (const [name, { kind, what, loads }] of about) {
    const { x, y, w: boxWidth, h: boxHeight } = boxes.get(name);
    const highest = Math.max(0, ...loads.map((one) => one.load).filter(Number.isFinite));
    const told = loads.map(toldLoad);
    const ink = loads.length ? loadInk(highest) : "var(--ink)";
    svg.append(draw("g", { fill: ink },
      draw("rect", { x: x - boxWidth / 2, y: y - boxHeight / 2, width: boxWidth, height: boxHeight, rx: kind === "link" ? boxHeight / 2 : 4, fill: loads.length ? loadColour(highest) : "var(--paper)", class: loads.some((one) => one.isOver) ? "place saturated" : "place" }),
      draw("text", { x, y: y - boxHeight / 2 + 18, "text-anchor": "middle", "font-weight": "600", class: "own" }, shortened(name, boxWidth / 8)),
      draw("text", { x, y: y - boxHeight / 2 + 34, "text-anchor": "middle", class: "own" }, shortened(what, boxWidth / 7.5)),
      (told.length ? inTheBox(loads) : ["no load"]).map((text, i) => draw("text", { x, y: y - boxHeight / 2 + 34 + LINE * (i + 1), "text-anchor": "middle", class: "own" }, shortened(text, boxWidth / 7)))));
    points.push({ x, y, text: `${name} (${what}): ${told.join(", ") || "no load"}` });
  }
  return {
    title, svg, readout: pointReadout(svg, points), legend: scaleLegend(),
    table: () => ({ head: ["place", "machine or network", "load"], rows: [...about].map(([name, one]) => [name, one.what, one.loads.map((l) => `${l.name} ${percent(l.load)}`.trim()).join(", ")]) }),
  };
}

function toldLoad(one) { return `${one.name ? `${one.name} ` : ""}${percent(one.load)}`; }

// The fullest of many: a switch has two ports for each place, and the table tells all of them.
function inTheBox(loads) {
  if (loads.length <= MOST_LOADS) return loads.map(toldLoad);
  const kept = [...loads].sort((a, b) => b.load - a.load).slice(0, MOST_LOADS - 1);
  return [...kept.map(toldLoad), `${loads.length - kept.length} more, less full`];
}

function placedKind(model, setting, name) {
  const index = model.selects.findIndex((one) => one.name === name && one.kind !== "option");
  return index < 0 ? model.fixedPlaces[name] ?? "" : model.selects[index].choices[setting.picks[index]];
}

// Cividis, which colour-blind readers see alike, from dark to bright; the numbers stand beside it.
const CIVIDIS = [[0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115], [138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56]];

export function scaleColour(share) {
  if (!Number.isFinite(share)) return "none";
  const at = Math.max(0, Math.min(1, share)) * (CIVIDIS.length - 1);
  const [low, part] = [Math.floor(at), at % 1];
  const next = CIVIDIS[Math.min(low + 1, CIVIDIS.length - 1)];
  return `rgb(${CIVIDIS[low].map((v, i) => Math.round(v + (next[i] - v) * part)).join(",")})`;
}

// At least 4.5 to 1 on each of these colours.
function scaleInk(share) { return share > 0.47 ? "#000000" : "#ffffff"; }
function loadColour(load) { return scaleColour(Math.min(load, 1)); }
function loadInk(load) { return scaleInk(Math.min(load, 1)); }

export function scaleLegend(low = "0 %", high = "100 % and more") {
  const steps = [...Array(12).keys()];
  return [make("li", null, `${low} `, draw("svg", { width: 120, height: 12, "aria-hidden": "true" },
    steps.map((i) => draw("rect", { x: i * 10, width: 10.5, height: 12, fill: scaleColour(i / 11) }))), ` ${high}`)];
}
