// What a reader has chosen of single pictures, and what is folded out, under words for an address:
// `loads.log=on`, `heat.across=pace`. Each is a control with `said`, the text of what was chosen
// or null where it shows what it came with, and `say(text)`, which sets that and tells whether it can be.

import { make } from "../common/dom.js";
import { Refused, quotedShort } from "./state.js";

export class Looks {
  constructor() { this.controls = new Map(); }

  add(word, control, change) { this.controls.set(word, { control, change }); }

  pairs() {
    const said = [...this.controls].filter(([, { control }]) => control.said !== null);
    const open = folds().filter(([, one]) => one.open).map(([id]) => id);
    return [...said.map(([word, { control }]) => ["look", `${word}=${control.said}`]), ...open.length ? [["open", open.join(",")]] : []];
  }

  // What `pairs()` told, by word; refused where there is no such control.
  read(pairs) {
    const said = new Map(), open = new Set();
    for (const [word, text] of pairs) {
      if (word === "open") {
        for (const id of text.split(",")) open.add(id);
        continue;
      }
      const at = text.indexOf("="), name = text.slice(0, Math.max(0, at));
      if (!this.controls.has(name)) throw new Refused(`there is no chart option ${quotedShort(name || text)}`);
      if (said.has(name)) throw new Refused(`it sets ${quotedShort(name)} twice`);
      said.set(name, text.slice(at + 1));
    }
    return { said, open };
  }

  // Show what was read; which choices are not offered as the page is set now, in words.
  show({ said, open }) {
    for (const [id, one] of folds()) one.open = open.has(id);
    const missed = [];
    for (const [word, { control, change }] of this.controls) {
      const text = said.get(word) ?? null;
      if (control.said === text) continue;
      control.say(text);
      change();
      if (text !== null && control.offers?.(text) === false) missed.push(`${word}=${text}`);
    }
    return missed;
  }
}

// A slider that belongs to a picture.
export class Slide {
  constructor(text, title, value, oninput) {
    this.usual = String(value);
    this.input = make("input", { type: "range", min: "0", max: "90", value: this.usual, "aria-label": title, on: { input: oninput } });
    this.label = make("label", null, `${text} `, this.input);
  }

  get value() { return Number(this.input.value); }

  get said() { return this.input.value === this.usual ? null : this.input.value; }

  say(text) { this.input.value = text ?? this.usual; }

  offers(text) { return this.input.value === text; }
}

// Parts of the page that are folded, and the tables behind pictures, by the names that addresses have for them.
export function folds() {
  const parts = [...document.querySelectorAll(".fold")].map((one) => [one.id || one.parentElement.id, one]);
  const tables = [...document.querySelectorAll(".picture[id] > .tools > details")].map((one) => [one.closest(".picture").id, one]);
  return [...parts, ...tables, ...[...document.querySelectorAll("details#starts")].map((one) => [one.id, one])];
}
