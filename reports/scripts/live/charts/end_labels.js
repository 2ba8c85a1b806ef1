// Names of lines: which lines are one to the eye, and where their names stand, at their ends where there is room.

import { color, dash, draw } from "../../common/dom.js";
import { listed, shortened } from "../../common/format.js";

const ALIKE = 0.75; // px: lines that are nowhere further apart are one to the eye
const LINE = 15, LETTER = 6.7; // px of names at the ends of lines
const SAMPLE = 20, GAP = 8; // px of the piece of line before a name, and between a line and that
const NARROW = 520, MAX_ROOM = 0.3;

// Indices of lines in groups that are drawn as one; `levels` has the height of each line at each place.
export function alikeGroups(levels) {
  const groups = [];
  levels.forEach((own, i) => {
    const isAlike = (other) => own.every((v, k) => (Number.isNaN(v) ? Number.isNaN(other[k]) : Math.abs(v - other[k]) < ALIKE));
    const group = groups.find(([first]) => isAlike(levels[first]));
    if (group) group.push(i); else groups.push([i]);
  });
  return groups;
}

export function groupName(group, names) {
  return group.length < 3 ? listed(group.map((i) => names[i])) : `${names[group[0]]} and ${group.length - 1} overlapping`;
}

// All names of a group, however many: shown under the pointer.
export function allNames(group, names) { return listed(group.map((i) => names[i])); }

// How much room names need beside a picture: nothing where there is none, and a legend is to tell them.
export function roomForNames(names, width, height) {
  if (names.length < 2 || width < NARROW || names.length * LINE > height) return 0;
  return Math.min(width * MAX_ROOM, GAP + SAMPLE + 10 + LETTER * Math.max(...names.map((name) => name.length)));
}

// Heights for names that are as near as can be to those wanted, and do not touch.
function apart(wanted, top, bottom, step = LINE) {
  const order = [...wanted.keys()].sort((a, b) => wanted[a] - wanted[b]);
  const found = new Array(wanted.length);
  let least = top;
  for (const i of order) { found[i] = Math.max(wanted[i], least); least = found[i] + step; }
  let most = bottom;
  for (const i of order.reverse()) { found[i] = Math.min(found[i], most); most = found[i] - step; }
  return found;
}

// Names at the ends of lines, each behind a piece of its line. `ends` are { name, all, x, y, index, strong, isArea }.
export function endLabels(ends, room, { right, top, bottom }) {
  const heights = apart(ends.map((one) => Math.max(top, Math.min(bottom, one.y))), top, bottom);
  const from = right + GAP, most = (room - GAP - SAMPLE - 6) / LETTER;
  return ends.map(({ name, all, x, y, index, strong, isArea }, i) => {
    const level = heights[i], end = Math.max(top, Math.min(bottom, y));
    const isAway = Math.abs(level - end) > 2 || right - x > 4;
    return draw("g", { class: "line-end" },
      isAway ? draw("path", { d: `M${Math.min(x, right).toFixed(1)} ${end.toFixed(1)}L${right} ${end.toFixed(1)}L${from} ${level.toFixed(1)}`, class: "leader" }) : null,
      isArea ? draw("rect", { x: from, y: level - 5, width: 12, height: 10, fill: color(index), class: "area" })
        : draw("line", { x1: from, x2: from + SAMPLE, y1: level, y2: level, stroke: color(index), "stroke-dasharray": dash(index), class: strong ? "line strong" : "line" }),
      draw("text", { x: from + SAMPLE + 4, y: level + 4, class: "end-name" }, shortened(name, most), draw("title", null, all)));
  });
}
