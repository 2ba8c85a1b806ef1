// The page of a matrix: filters, table and pictures tied together. What one of them keeps, all show.

import { withData } from "./common/data.js";
import { make } from "./common/dom.js";
import { csvOf, downloadText } from "./common/downloads.js";
import { quoted, whole } from "./common/format.js";
import { Filters } from "./matrix/filters.js";
import { FrontPicture } from "./matrix/front.js";
import { ParallelPicture } from "./matrix/parallel.js";
import { Leads } from "./matrix/leads.js";
import { RowTable } from "./matrix/row_table.js";
import { configurationOf, RowColumn, sortedBy } from "./matrix/rows.js";

class MatrixPage {
  constructor(data) {
    this.name = data.name;
    this.command = data.command;
    this.columns = data.columns.map((one, index) => new RowColumn(one, index, data.rows));
    for (const one of this.columns) {
      one.kinds = this.columns[one.knownIn] ?? null;
      one.limits = this.columns[one.limitsIn] ?? null;
    }
    this.leads = new Leads(document.getElementById("answer"), this.columns, data.leads);
    this.filters = new Filters(this.columns);
    this.all = Uint32Array.from({ length: data.rows }, (_, i) => i);
    this.order = this.all;
    this.view = this.all;
    this.chosen = null;
    // The rows come sorted by this column already.
    this.sorting = data.sorted.length ? { column: this.columns[data.sorted[0][0]], isDescending: data.sorted[0][1] } : null;
    document.body.classList.add("live");
    this.build(data);
    this.show();
  }

  build(data) {
    this.count = make("strong", { role: "status" });
    this.chips = make("span", { class: "chips" });
    this.trouble = make("p", { class: "trouble", role: "alert" });
    this.save = make("button", { type: "button", on: { click: () => this.download() } });
    document.getElementById("filtered").replaceChildren(make("div", { class: "tools" }, this.count, this.chips, this.save), this.trouble);
    const place = document.getElementById("rows");
    this.details = make("section", { class: "details", "aria-label": "Selected configuration", hidden: true });
    const holder = make("div");
    this.readout = make("output", { class: "readout", "aria-live": "polite" });
    place.replaceChildren(holder, this.readout, this.details);
    this.table = new RowTable(holder, this.columns, this.filters, {
      sort: (column) => this.sort(column), change: () => this.change(), choose: (row, isShown) => this.choose(row, isShown),
      report: (trouble) => { this.trouble.textContent = trouble; },
    });
    const [front, lines] = ["front", "lines"].map((name) => document.getElementById(`picture-${name}`));
    this.pictures = [];
    this.marked = [];
    if (data.front.length) {
      this.front = new FrontPicture(front, this, data.front);
      this.pictures.push(this.front.picture);
      this.marked.push(this.front);
      addEventListener("resize", () => this.front.picture.measure());
    } else front.hidden = true;
    if (data.lines.length > 1) {
      this.lines = new ParallelPicture(lines, this, data.lines);
      this.pictures.push(this.lines);
      this.marked.push(this.lines);
    } else lines.hidden = true;
  }

  sort(column) {
    const isSame = this.sorting?.column === column;
    const isDescending = isSame ? !this.sorting.isDescending : column.better > 0;
    this.sorting = { column, isDescending };
    this.order = sortedBy(this.order, column, isDescending);
    this.view = this.filters.included(this.order);
    this.show(); // pictures know no order
  }

  // What is kept has changed: the table follows at once, the pictures with the next frame.
  change() {
    this.view = this.filters.included(this.order);
    this.show();
    this.later ??= requestAnimationFrame(() => {
      this.later = null;
      for (const picture of this.pictures) picture.change();
    });
  }

  show() {
    const { view, all } = this;
    this.count.textContent = view.length === all.length ? `${whole(all.length)} configurations` : `${whole(view.length)} of ${whole(all.length)} configurations`;
    this.save.textContent = `Download ${view.length === all.length ? "all" : "matching"} rows as CSV`;
    this.save.disabled = view.length === 0;
    const filters = [...this.filters.active];
    this.chips.replaceChildren(...filters.map(([index, { text }]) => this.chip(this.columns[index], text)),
      filters.length > 1 ? make("button", { type: "button", class: "quiet", on: { click: () => this.clear(null) } }, "Clear filters") : "");
    this.leads.show(view, all.length);
    this.table.show(view, this.sorting);
  }

  chip(column, text) {
    const label = `${column.label} ${text}${column.unit && !text.endsWith(column.unit) ? ` ${column.unit}` : ""}`;
    return make("button", { type: "button", class: "chip", "aria-label": `Remove filter ${label}`, on: { click: () => this.clear(column) } }, label, make("span", { "aria-hidden": "true" }, " ×"));
  }

  clear(column) {
    if (column) this.filters.clear(column); else this.filters.active.clear();
    this.trouble.textContent = "";
    this.change();
  }

  // Show one configuration everywhere, and all that is known of it.
  choose(row, isShown = false) {
    this.chosen = row;
    this.table.choose(row, isShown);
    for (const picture of this.marked) picture.mark();
    const place = this.view.indexOf(row);
    this.readout.textContent = `${place < 0 ? "Filtered out" : `Row ${whole(place + 1)} of ${whole(this.view.length)}`}: ${configurationOf(this.columns, row)}`;
    this.details.hidden = false;
    const known = this.columns.filter((one) => one.codes[row]);
    const command = this.commandOf(row);
    this.details.replaceChildren(
      make("h3", null, configurationOf(this.columns, row)),
      make("dl", null, known.map((one) => make("div", null, make("dt", null, one.label), make("dd", null, one.quantityOf(row))))),
      command ? make("p", { class: "soft" }, "Command line:") : "", command ? make("code", { class: "command" }, command) : "");
  }

  // The command that solves a row by itself; null where the file does not tell what was asked.
  commandOf(row) {
    if (!this.command) return null;
    const parts = ["qps", "solve", quoted(this.command.file)];
    const set = (text) => {
      const scenario = /^scenario\s*=\s*(.*)$/.exec(text);
      parts.push(...(scenario ? ["--scenario", quoted(scenario[1])] : ["--set", quoted(text)]));
    };
    for (const text of this.command.with) set(text);
    for (const one of this.columns) {
      if (!one.axis || !one.codes[row]) continue;
      const value = one.at(row);
      set(one.isWord ? `${one.name}=${value}` : `${one.name}=${Number((value / one.factor).toPrecision(15))}${one.unit ? ` ${one.unit}` : ""}`);
    }
    return parts.join(" ");
  }

  download() { downloadText(`${this.name}.csv`, "text/csv", csvOf(this.columns, this.view)); }

  // All pictures now, whether or not they are in sight.
  drawAll() {
    for (const picture of this.pictures) {
      picture.isVisible = true;
      picture.change();
    }
  }
}

withData((data) => { globalThis.qps = new MatrixPage(data); });
