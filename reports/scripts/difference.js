// The page of a difference: from the old answer to the new one, change by change.

import { Axis } from "./common/axis.js";
import { withData } from "./common/data.js";
import { color, draw } from "./common/dom.js";
import { number, shortened, whole } from "./common/format.js";
import { offerTables } from "./common/table_files.js";
import { Choice, Picture, pointReadout } from "./common/picture.js";

const MAX_CHANGES = 16;

// Changes that move nothing are left out, the smallest of very many told together.
function visibleSteps(steps) {
  const moving = steps.filter((one) => one.users !== 0);
  if (moving.length <= MAX_CHANGES) return moving;
  const shown = new Set([...moving].sort((a, b) => Math.abs(b.users) - Math.abs(a.users)).slice(0, MAX_CHANGES - 1));
  const rest = moving.filter((one) => !shown.has(one));
  return [...moving.filter((one) => shown.has(one)), { name: `${rest.length} smaller changes`, change: "", users: rest.reduce((sum, one) => sum + one.users, 0) }];
}

function signed(users) { return `${users > 0 ? "+" : users < 0 ? "−" : ""}${number(Math.abs(users))}`; }

function drawChanges({ before, after, ways }, width, choice) {
  const steps = visibleSteps(ways.find((one) => one.name === choice.value).steps);
  const bars = [{ name: "Before", from: 0, to: before, isTotal: true }];
  let level = before;
  for (const step of steps) bars.push({ ...step, from: level, to: (level += step.users) });
  bars.push({ name: "After", from: 0, to: after, isTotal: true });
  const title = `Capacity from ${whole(before)} to ${whole(after)} users, by change`;
  const ends = bars.flatMap((one) => (one.isTotal ? [one.to] : [one.from, one.to]));
  const least = Math.min(...ends), most = Math.max(...ends, 1);
  // Small changes of a large answer would not be seen beside all of it.
  const start = least > 0.75 * most && most > least ? Math.max(0, least - (most - least)) : Math.min(0, least);
  const labels = Math.min(width * 0.4, 24 + 7.4 * Math.max(...bars.map((one) => one.name.length)));
  const across = new Axis(start, most, labels, width - 74);
  const line = 28, height = bars.length * line + 50, bottom = height - 40;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "chart", role: "img", "aria-label": title });
  const points = bars.map((bar, i) => {
    const y = 6 + i * line, [x, end] = [across.at(Math.max(start, Math.min(bar.from, bar.to))), across.at(Math.max(bar.from, bar.to))];
    const label = bar.isTotal ? whole(bar.to) : signed(bar.users);
    const text = bar.isTotal ? `${bar.name}: ${whole(bar.to)} users` : `${bar.name}${bar.change ? ` (${bar.change})` : ""}: ${signed(bar.users)} users, to ${number(bar.to)}`;
    svg.append(
      i + 1 < bars.length ? draw("line", { x1: across.at(bar.to), x2: across.at(bar.to), y1: y + 4, y2: y + line + 4, class: "grid" }) : "",
      draw("text", { x: labels - 8, y: y + 17, "text-anchor": "end" }, shortened(bar.name, (labels - 16) / 7.2)),
      draw("rect", { x, y: y + 3, width: Math.max(end - x, 1.5), height: line - 9, fill: color(bar.isTotal ? 6 : bar.users > 0 ? 2 : 1) }, draw("title", null, text)),
      draw("text", { x: end + 5, y: y + 17 }, label));
    return { x: (x + end) / 2, y: y + 12, band: true, text };
  });
  svg.append(...across.ticks(Math.max(2, Math.floor(width / 120))).flatMap((v) => [
    draw("line", { x1: across.at(v), x2: across.at(v), y1: bottom, y2: bottom + 5, class: "axis" }),
    draw("text", { x: across.at(v), y: bottom + 18, "text-anchor": "middle" }, number(v))]),
  draw("text", { x: (across.start + across.end) / 2, y: height - 4, "text-anchor": "middle", class: "soft" }, start > 0 ? `users (axis starts at ${number(start)})` : "users"));
  return {
    title, svg, readout: pointReadout(svg, points),
    table: () => ({
      head: ["Change", "Users", "Before → after"],
      rows: bars.map((bar) => (bar.isTotal ? [bar.name, whole(bar.to), ""] : [bar.name, signed(bar.users), bar.change])),
    }),
  };
}

withData((data) => {
  const place = document.getElementById("picture-changes");
  document.body.classList.add("live");
  offerTables();
  if (data.ways.length) {
    const choice = new Choice("Attribution", () => picture.change());
    choice.update(data.ways.map((one) => one.name));
    const picture = new Picture(place, "changes", (width) => drawChanges(data, width, choice), [choice]);
    addEventListener("resize", () => picture.measure());
    globalThis.qps = { picture };
  } else place.hidden = true;
});
