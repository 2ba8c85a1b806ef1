// Capacities with changes as intervals on one axis, and the capacity now, as `reports/pages/change_intervals.py` has them.

import { draw, make } from "../../common/dom.js";
import { roundedDown, roundedUp, whole } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";

const MARGIN = 3; // beyond the ends of all intervals, in per cent

// What draws an interval beside its capacity; null where no change has one.
export function intervalDrawer(now, intervals, end) {
  const known = intervals.filter(Boolean);
  if (!known.some(([least, most]) => least !== most)) return null;
  const low = Math.min(now, ...known.map(([least]) => least ?? 0)), high = Math.max(now, ...known.map(([, most]) => most ?? 0));
  const at = (population) => MARGIN + ((100 - 2 * MARGIN) * (population - low)) / (high - low);
  return (interval, many) => {
    if (!interval) return [make("span", { class: "ends" }, phrase("change.no_interval"))];
    const [least, most] = interval, start = at(least ?? low), text = textOf(interval, end), dot = Math.max(low, many);
    const part = (value) => `${value.toFixed(2)}%`;
    return [draw("svg", { class: "interval", role: "img", "aria-label": `${phrase("change.interval")} ${text}` },
      draw("line", { class: "axis", x1: "0", x2: "100%", y1: 14, y2: 14 }), draw("line", { class: "now", x1: part(at(now)), x2: part(at(now)), y1: 0, y2: 20 }), draw("text", { x: part(at(now)), dx: 5, y: 9 }, phrase("change.now")),
      draw("rect", { class: "range", x: part(start), width: part(at(most ?? low) - start), y: 11, height: 6, rx: 2 }), draw("circle", { cx: part(at(dot)), cy: 14, r: 4 })),
    make("span", { class: "ends" }, text)];
  };
}

function textOf([least, most], end) {
  const more = most === end ? "+" : "";
  if (most === null) return "none at all";
  if (least === most) return whole(most) + more;
  return `${least === null ? "none" : roundedDown(least)}–${more ? whole(most) : roundedUp(most)}${more}`;
}
