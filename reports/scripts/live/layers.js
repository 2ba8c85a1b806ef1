// Where boxes and lines of a drawing stand: side by side where there is room, else in layers from
// above, each in rows as wide as the page, with lines in the gaps between boxes and never behind them.

const BOX = 168, GAP = 22, ROW_GAP = 26, NARROWEST = 146, TOP = 6;
const MOST_BELOW = 4; // boxes below each other, side by side with others

// `places` are [name, kind, column, row], `heightOf` is how high the box of a name must be.
export function laidOut(places, joins, width, heightOf) {
  const columns = Math.max(...places.map((p) => p[2])) + 1, rows = Math.max(...places.map((p) => p[3])) + 1;
  return width >= columns * 120 && rows <= MOST_BELOW ? sideBySide(places, joins, width / columns, heightOf) : inLayers(places, joins, width, heightOf);
}

function sideBySide(places, joins, step, heightOf) {
  const h = Math.max(...places.map(([name]) => heightOf(name)));
  const w = Math.min(BOX, step - GAP);
  const boxes = new Map(places.map(([name, , column, row]) => [name, { x: (column + 0.5) * step, y: row * (h + ROW_GAP) + h / 2 + TOP, w, h }]));
  const height = Math.max(...[...boxes.values()].map((box) => box.y + box.h / 2)) + ROW_GAP / 2;
  const lines = joins.map(([one, other]) => `M${boxes.get(one).x},${boxes.get(one).y}L${boxes.get(other).x},${boxes.get(other).y}`);
  return { boxes, lines, height };
}

function inLayers(places, joins, width, heightOf) {
  const perRow = Math.max(1, Math.floor(width / NARROWEST)), step = width / perRow, w = Math.min(BOX, step - GAP);
  const boxes = new Map();
  let y = TOP;
  for (let layer = 0; layer <= Math.max(...places.map((p) => p[2])); layer++) {
    const own = places.filter((p) => p[2] === layer).map(([name]) => name);
    const inset = own.length < perRow ? (width - own.length * step) / 2 : 0;
    const count = Math.ceil(own.length / perRow), first = y;
    const made = [];
    for (let row = 0; row < count; row++) {
      const names = own.slice(row * perRow, (row + 1) * perRow), h = Math.max(...names.map(heightOf)), top = y;
      names.forEach((name, i) => made.push([name, { x: inset + (i + 0.5) * step, y: top + h / 2, w, h, gutter: Math.max(2, inset + i * step), row, above: top - ROW_GAP / 2, below: top + h + ROW_GAP / 2 }]));
      y += h + ROW_GAP;
    }
    for (const [name, box] of made) boxes.set(name, { ...box, layer, last: count - 1, from: first - ROW_GAP / 2, to: y - ROW_GAP / 2 });
  }
  return { boxes, lines: joins.map(([one, other]) => between(boxes.get(one), boxes.get(other))), height: y };
}

// A line between two boxes: down from the upper one, beside boxes that stand between them, to the lower one.
function between(one, other) {
  const [upper, lower] = one.y <= other.y ? [one, other] : [other, one];
  const points = [[upper.x, upper.y + upper.h / 2], [upper.x, upper.below]];
  if (upper.y === lower.y) points.push([lower.x, upper.below], [lower.x, lower.y + lower.h / 2]);
  else {
    if (upper.layer !== lower.layer && upper.row < upper.last) points.push([upper.gutter, upper.below], [upper.gutter, upper.to]);
    if (lower.row > (upper.layer === lower.layer ? upper.row + 1 : 0)) points.push([lower.gutter, points.at(-1)[1]], [lower.gutter, lower.above]);
    points.push([lower.x, lower.above], [lower.x, lower.y - lower.h / 2]);
  }
  return `M${points.map((point) => point.map((v) => Math.round(v)).join(",")).join("L")}`;
}
