// Which numbers are seen among the controls: those that move the answer most, and what is looked for.

import { make } from "../../common/dom.js";
import { labelOf } from "../labels.js";

const MAX_SEEN = 6, MAX_FOUND = 12;

// Numbers by how much they move the answer, the most first; the spec's own parameters before others.
export function ranked({ sensitivity }, numbers) {
  const moves = new Map((sensitivity?.rows ?? []).map(({ record, elasticity }) => [record.name, Math.abs(elasticity)]));
  const rank = (one) => (moves.get(one.name) ?? 0) + (one.parameter ? 0 : -1e9);
  return [...numbers].sort((one, other) => rank(other) - rank(one));
}

export class Finder {
  constructor(controls) {
    this.controls = controls;
    this.input = make("input", { type: "search", id: "find-number", autocomplete: "off", on: { input: () => this.find() } });
    this.label = make("label", { for: "find-number" });
    this.status = make("p", { class: "soft", role: "status" });
    this.place = make("div", { class: "field finder" }, this.label, this.input, this.status);
  }

  // `numbers` are all that can be moved, the most telling first.
  show(numbers) {
    this.numbers = numbers;
    this.input.value = "";
    this.place.hidden = numbers.length <= MAX_SEEN;
    this.label.textContent = `Search ${numbers.length} inputs`;
    this.find();
  }

  // Show what all words that are typed are found in; where none is typed, the first few and what was changed.
  find() {
    const { controls, numbers } = this, { model, setting } = controls.column;
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isChanged = model.changedIn(setting);
    const searchText = (one) => `${one.name} ${labelOf(model, one.name)?.whole ?? ""} ${one.unit} ${one.source}`.toLowerCase();
    const found = words.length ? numbers.filter((one) => words.every((word) => searchText(one).includes(word))) : [];
    const seen = new Set(words.length ? found.slice(0, MAX_FOUND) : numbers.filter((one, i) => i < MAX_SEEN && controls.fields.has(`number-${one.name}`)));
    const places = [];
    for (const one of numbers) {
      const isSeen = seen.has(one) || isChanged(one.name);
      const field = controls.fields.get(`number-${one.name}`);
      if (!field && isSeen) places.push(controls.numberField(one));
      if (field) field.place.hidden = !isSeen;
    }
    controls.numbers.append(...places);
    if (places.length) controls.refreshNumbers();
    const more = found.length - MAX_FOUND;
    this.status.textContent = !words.length ? "" : !found.length ? "No adjustable input matches." : more > 0 ? `${more} more: keep typing to narrow the list.` : "";
  }
}
