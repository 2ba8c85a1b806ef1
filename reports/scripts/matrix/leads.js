// The rows that match the filters: how many are feasible, the cheapest and the largest of them, in the
// words of `reports/pages/matrices/matrix_page.py`.

import { make } from "../common/dom.js";
import { whole } from "../common/format.js";
import { phrase } from "../common/phrases.js";
import { configurationOf } from "./rows.js";

export class Leads {
  constructor(place, columns, { largest, quality, costs, running, reason, nouns }) {
    const at = (index) => (index === null ? null : columns[index]);
    Object.assign(this, { place, columns, nouns, largest: at(largest), quality: at(quality), costs: costs.map(at), running: at(running), reason: at(reason) });
    this.written = [...place.childNodes];
    this.className = place.className;
  }

  show(view, all) {
    const { place } = this;
    if (view.length === all) {
      place.className = this.className;
      place.replaceChildren(...this.written);
      return;
    }
    const carrying = view.filter((row) => (this.reason?.codes[row] ?? 0) === 0 && (this.largest?.codes[row] ?? 1) > 0);
    place.className = carrying.length ? "answer" : "answer no";
    const matching = `${whole(view.length)} of ${whole(all)} configurations match the filters`;
    const feasible = carrying.length === view.length ? "" : `, ${whole(carrying.length)} of them feasible`;
    place.replaceChildren(`${matching}${feasible}.`, ...this.lines(carrying).map((line) => make("p", { class: "then" }, line)));
  }

  lines(carrying) {
    const { largest, costs } = this, found = [];
    const best = (first, sign, others) => bestOf(carrying, [[first, sign], ...others.filter(([column]) => column)]);
    for (const cost of costs) {
      const { row, ties } = best(cost, 1, [[largest, -1]]);
      if (row === undefined) continue;
      const users = largest ? `, ${this.users(row)}` : "";
      found.push(phrase("page.matrix.cheapest", { running: cost === this.running ? phrase("page.matrix.running") : "", cost: cost.quantity(cost.codes[row]), users, configuration: configurationOf(this.columns, row), ties: asGood(ties) }));
    }
    if (!largest) return found;
    const { row, ties } = best(largest, -1, [...costs.map((cost) => [cost, 1]), [this.quality, 1]]);
    if (row === undefined) return found;
    const cost = costs.length ? `, ${costs[0].quantity(costs[0].codes[row])}` : "";
    return [...found, phrase("page.matrix.best", { users: this.users(row), cost, configuration: configurationOf(this.columns, row), ties: asGood(ties) })];
  }

  users(row) {
    const { largest } = this, count = largest.at(row);
    if (count === null) return `no ${this.nouns[1]}`;
    const mark = largest.mark(row), isLeast = largest.limits && !largest.limits.codes[row] && mark === largest.ends[0];
    return `${isLeast ? phrase("at_least", { users: whole(count) }) : mark + whole(count)} ${this.nouns[count === 1 ? 0 : 1]}`;
  }
}

// The first row of those that are best by some columns, one after the other, and how many others are as good.
function bestOf(carrying, columns) {
  const [[first]] = columns;
  let left = carrying.filter((row) => first.codes[row]);
  for (const [{ codes, values }, sign] of columns) {
    const key = (row) => (codes[row] ? sign * codes[row] : values.length + 1);
    let least = Infinity;
    for (const row of left) least = Math.min(least, key(row));
    left = left.filter((row) => key(row) === least);
  }
  let row; // rows are in the order of the table: the first of the file counts
  for (const one of left) if (row === undefined || one < row) row = one;
  return { row, ties: left.length - 1 };
}

function asGood(ties) { return ties > 0 ? phrase("page.matrix.ties", { ties: whole(ties) }) : ""; }
