// What a reader filters a column with: a limit for numbers, a list of names to tick for words.

import { make, tickBox } from "../common/dom.js";
import { whole } from "../common/format.js";

const MANY_WORDS = 12, MAX_WORDS_SHOWN = 300;

// A field for a column; `change` is called when it has set a filter, `tell` with what is wrong.
export function filterField(column, filters, change, report) {
  return column.isWord ? new WordsField(column, filters, change) : new LimitField(column, filters, change, report);
}

class LimitField {
  constructor(column, filters, change, report) {
    Object.assign(this, { column, filters });
    this.element = make("input", {
      type: "text", class: "limit-field", placeholder: "all", spellcheck: "false", autocomplete: "off",
      "aria-label": `Filter ${column.head}: a limit such as >= 5, a range such as 5..10, or none`,
      title: "a limit such as >= 5, a range such as 5..10, or none",
      on: { input: () => {
        const trouble = filters.write(column, this.element.value);
        this.element.setAttribute("aria-invalid", String(Boolean(trouble)));
        report(trouble ? `${column.label}: ${trouble}` : "");
        if (!trouble) change();
      } },
    });
  }

  // Show the filter that is in force, unless the reader is writing it.
  refresh() {
    if (document.activeElement === this.element) return;
    this.element.value = this.filters.of(this.column)?.text ?? "";
    this.element.removeAttribute("aria-invalid");
    this.element.classList.toggle("changed", this.filters.active.has(this.column.index));
  }
}

class WordsField {
  constructor(column, filters, change) {
    Object.assign(this, { column, filters, change });
    this.element = make("button", {
      type: "button", class: "words-field", "aria-haspopup": "dialog",
      on: { click: () => WordsPanel.open(this) },
    }, "all");
  }

  refresh() {
    const text = this.filters.of(this.column)?.text ?? "all";
    this.element.textContent = text;
    this.element.setAttribute("aria-label", `Filter ${this.column.label}: ${text}`);
    this.element.classList.toggle("changed", this.filters.active.has(this.column.index));
  }
}

// The list of names to tick, of which one is open at a time. It stands above everything else.
class WordsPanel {
  static open(field) {
    WordsPanel.element ??= WordsPanel.create();
    const { element } = WordsPanel, { column, filters, change } = field;
    const codes = [...column.values.keys()].map((i) => i + 1).concat(column.hasNone ? [0] : []);
    const tick = (code, isIncluded) => {
      const chosen = new Set(codes.filter((other) => filters.isAllowed(column, other)));
      if (isIncluded) chosen.add(code); else chosen.delete(code);
      filters.words(column, chosen);
      change();
    };
    const all = (isIncluded) => {
      filters.words(column, new Set(isIncluded ? codes : []));
      change();
      list("");
    };
    const holder = make("div", { class: "ticks" });
    const list = (wanted) => {
      const shown = codes.filter((code) => column.format(code).toLowerCase().includes(wanted.toLowerCase()));
      const few = shown.slice(0, MAX_WORDS_SHOWN);
      holder.replaceChildren(...few.map((code) => tickBox(code ? column.format(code) : "none", filters.isAllowed(column, code), (isIncluded) => tick(code, isIncluded))), shown.length > few.length ? make("p", { class: "soft" }, `${whole(shown.length - few.length)} more: type to narrow the list`) : "");
    };
    list("");
    const quiet = (text, run) => make("button", { type: "button", class: "quiet", on: { click: run } }, text);
    element.setAttribute("aria-label", `Filter ${column.label}`);
    element.replaceChildren(
      make("div", { class: "tools" }, quiet("all", () => all(true)), quiet("none", () => all(false)), quiet("close", () => element.hidePopover())),
      codes.length > MANY_WORDS ? make("input", { type: "text", "aria-label": "Search", placeholder: "search …", on: { input: (event) => list(event.target.value) } }) : "",
      holder);
    element.showPopover();
    const box = field.element.getBoundingClientRect(), room = document.documentElement.clientWidth;
    element.style.left = `${Math.max(8, Math.min(box.left, room - element.offsetWidth - 8))}px`;
    element.style.top = `${Math.max(8, Math.min(box.bottom + 4, innerHeight - element.offsetHeight - 8))}px`;
    WordsPanel.field = field;
    element.querySelector("input")?.focus();
  }

  static create() {
    const element = make("div", { popover: "auto", class: "words-panel", role: "dialog" });
    element.addEventListener("toggle", (event) => {
      if (event.newState === "closed") WordsPanel.field?.element.focus({ preventScroll: true });
    });
    document.body.append(element);
    return element;
  }
}
