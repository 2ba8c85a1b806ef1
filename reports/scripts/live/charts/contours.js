// Lines of equal value over a grid of cells, by their middles (marching squares).

// Segments [[x, y], [x, y]] where a value passes a level; `at(column, row)` is where a cell's middle lies.
export function contour(values, across, level, at) {
  const segments = [];
  const up = values.length / across;
  for (let row = 0; row + 1 < up; row++) {
    for (let column = 0; column + 1 < across; column++) {
      const corners = [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]];
      const over = corners.map(([c, r]) => values[r * across + c] - level);
      if (over.some((v) => Number.isNaN(v))) continue;
      const crossings = corners.flatMap((corner, i) => {
        const next = (i + 1) % 4, [a, b] = [over[i], over[next]];
        if (a > 0 === b > 0) return [];
        const share = Number.isFinite(a) && Number.isFinite(b) ? a / (a - b) : Number.isFinite(a) ? 1 : 0;
        const [[x, y], [x2, y2]] = [at(...corner), at(...corners[next])];
        return [[x + (x2 - x) * share, y + (y2 - y) * share]];
      });
      for (let i = 0; i + 1 < crossings.length; i += 2) segments.push([crossings[i], crossings[i + 1]]);
    }
  }
  return segments;
}

export function contourPath(segments) {
  return segments.map(([from, to]) => `M${[from, to].map((point) => point.map((v) => v.toFixed(1)).join(" ")).join("L")}`).join("");
}
