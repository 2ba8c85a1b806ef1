// The table of all rows: heads that sort, fields that filter, and only those rows in the page that
// are in sight, so that thousands scroll as a few do.

import { chooser, make, tickBox } from "../common/dom.js";
import { whole, unitSymbols } from "../common/format.js";
import { filterField } from "./filter_fields.js";

const ROW_HEIGHT = 29, AHEAD = 12, MAX_PRINTED = 500;

export class RowTable {
  // `does` has sort(column), change(), choose(row), and tell(trouble).
  constructor(place, columns, filters, does) {
    Object.assign(this, { columns, filters, does, view: new Uint32Array(0), chosen: null, from: -1, pool: [], placed: -1 });
    this.shown = new Set(columns.filter((one) => !one.detail).map((one) => one.index));
    this.head = make("thead");
    this.body = make("tbody");
    [this.above, this.below] = [make("td"), make("td")];
    this.spacers = [this.above, this.below].map((cell) => make("tr", { "aria-hidden": "true", class: "spacer" }, cell));
    this.group = make("colgroup");
    this.table = make("table", { class: "rows" }, this.group, this.head, this.body);
    this.scroller = make("div", {
      class: "scroller", tabindex: "0", role: "region", "aria-label": "All configurations; select one with arrow keys",
      on: { scroll: () => this.draw(), keydown: (event) => this.key(event) },
    }, this.table);
    this.note = make("p", { class: "printed" });
    place.replaceChildren(this.chooser(), this.scroller, this.note);
    this.build();
    addEventListener("resize", () => this.draw());
    this.printing();
  }

  // Which columns stand in the table.
  chooser() {
    return chooser("Columns", this.columns.map((one) => tickBox(one.head, this.shown.has(one.index), (isTicked) => {
      if (isTicked) this.shown.add(one.index); else this.shown.delete(one.index);
      this.build();
    })));
  }

  // Heads, fields and widths anew: the columns have changed.
  build() {
    this.visible = this.columns.filter((one) => this.shown.has(one.index));
    const widths = this.visible.map(widthOf);
    this.group.replaceChildren(...widths.map((width) => {
      const col = make("col");
      col.style.width = `${width}px`;
      return col;
    }));
    this.table.style.width = `${widths.reduce((sum, width) => sum + width, 0)}px`;
    this.sorters = this.visible.map((one) => make("button", { type: "button", class: "sorter", on: { click: () => this.does.sort(one) } },
      make("span", null, one.label, one.unit ? make("span", { class: "unit" }, `, ${unitSymbols(one.unit)}`) : ""), make("span", { class: "mark", "aria-hidden": "true" })));
    this.heads = this.visible.map((one, i) => make("th", { scope: "col", class: one.isWord ? null : "num" }, this.sorters[i]));
    this.fields = this.visible.map((one) => filterField(one, this.filters, () => this.does.change(), (trouble) => this.does.report(trouble)));
    this.head.replaceChildren(make("tr", null, this.heads), make("tr", { class: "filter-row" }, this.fields.map((field) => make("td", null, field.element))));
    for (const cell of [this.above, this.below]) cell.colSpan = Math.max(1, this.visible.length);
    this.pool = [];
    this.placed = this.from = -1;
    this.refreshHeads();
    this.draw();
  }

  show(view, sorting) {
    this.view = view;
    this.sorting = sorting;
    this.from = -1;
    this.table.setAttribute("aria-rowcount", view.length + 2);
    this.refreshHeads();
    this.draw();
  }

  refreshHeads() {
    this.visible.forEach((one, i) => {
      const is = this.sorting?.column === one ? (this.sorting.isDescending ? "descending" : "ascending") : "none";
      this.heads[i].setAttribute("aria-sort", is);
      this.sorters[i].lastChild.textContent = { ascending: "▲", descending: "▼", none: "" }[is];
    });
    for (const field of this.fields) field.refresh();
  }

  // Put the rows that are in sight into the page.
  draw() {
    if (this.isPrinting) return;
    const { length } = this.view, { scrollTop, clientHeight } = this.scroller;
    const count = Math.min(length, Math.ceil((clientHeight || 600) / ROW_HEIGHT) + 2 * AHEAD);
    const from = Math.max(0, Math.min(length - count, Math.floor(scrollTop / ROW_HEIGHT) - AHEAD));
    // Rows ahead are there already: few scrolls need any others.
    if (this.from >= 0 && this.count === count && Math.abs(from - this.from) < AHEAD / 2 && !(from === 0 && this.from) && from + count !== length) return;
    this.place(from, count);
  }

  place(from, count) {
    Object.assign(this, { from, count });
    while (this.pool.length < count) this.pool.push(this.line());
    for (let i = 0; i < count; i++) this.fillLine(this.pool[i], from + i);
    this.above.style.height = `${from * ROW_HEIGHT}px`;
    this.below.style.height = `${(this.view.length - from - count) * ROW_HEIGHT}px`;
    if (this.placed === count) return;
    this.placed = count;
    this.body.replaceChildren(this.spacers[0], ...this.pool.slice(0, count).map((line) => line.row), this.spacers[1]);
  }

  line() {
    const cells = this.visible.map((one) => make("td", { class: one.isWord ? null : "num" }));
    const row = make("tr", null, cells);
    row.addEventListener("click", () => this.does.choose(this.view[row.sectionIndexOf]));
    return { row, cells };
  }

  fillLine({ row, cells }, index) {
    const at = this.view[index];
    row.sectionIndexOf = index;
    row.setAttribute("aria-rowindex", index + 3);
    row.classList.toggle("chosen", at === this.chosen);
    row.classList.toggle("even", index % 2 === 1);
    for (let i = 0; i < cells.length; i++) {
      const text = this.visible[i].textOfRow(at);
      if (cells[i].firstChild) cells[i].firstChild.data = text; else cells[i].append(text);
      if (text.length > 18) cells[i].title = text; else cells[i].removeAttribute("title");
    }
  }

  // Mark a row, and bring it into sight where it is asked for.
  choose(row, isShown) {
    this.chosen = row;
    const index = row === null ? -1 : this.view.indexOf(row);
    if (isShown && index >= 0) {
      const head = this.head.offsetHeight, { scrollTop, clientHeight } = this.scroller;
      const top = index * ROW_HEIGHT;
      if (top < scrollTop) this.scroller.scrollTop = top;
      else if (top + ROW_HEIGHT > scrollTop + clientHeight - head) this.scroller.scrollTop = top + ROW_HEIGHT - clientHeight + head;
    }
    this.from = -1;
    this.draw();
  }

  key(event) {
    if (event.target !== this.scroller || !this.view.length) return;
    const page = Math.max(1, Math.floor((this.scroller.clientHeight - this.head.offsetHeight) / ROW_HEIGHT) - 1);
    const now = this.chosen === null ? -1 : this.view.indexOf(this.chosen), last = this.view.length - 1;
    const next = {
      ArrowDown: now + 1, ArrowUp: now - 1, PageDown: now + page, PageUp: now - page, Home: 0, End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.does.choose(this.view[Math.max(0, Math.min(last, next))], true);
  }

  // On paper stand the first rows, and how many there are.
  printing() {
    const print = (isPrinting) => {
      if (isPrinting === Boolean(this.isPrinting)) return;
      this.isPrinting = isPrinting;
      const count = Math.min(this.view.length, MAX_PRINTED);
      const sorted = this.sorting ? `, sorted by ${this.sorting.column.label}` : "";
      const { length } = this.view;
      this.note.textContent = count === length ? `All ${whole(length)} matching rows${sorted}.`
        : `The first ${whole(count)} of ${whole(length)} matching rows${sorted}. The page itself contains all of them.`;
      if (isPrinting) {
        this.place(0, count);
        this.below.style.height = "0";
      } else {
        this.from = -1;
        this.draw();
        this.pool.length = this.count; // what paper needed is not kept
      }
    };
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
    matchMedia("print").addEventListener("change", (event) => print(event.matches));
  }
}

// How wide a column stands: its head in two lines, its longest word in one.
function widthOf(column) {
  const longest = column.isWord ? column.values.reduce((most, word) => Math.max(most, word.length), 4) : 7;
  const head = Math.max(...column.head.split(" ").map((word) => word.length), Math.ceil(column.head.length / 2)) + 3;
  return Math.min(column.name === "reason" ? 420 : 260, Math.max(longest, head, 8) * 7.6 + 22);
}
