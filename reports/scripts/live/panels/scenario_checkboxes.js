// Which scenarios the pictures of quality show beside the setting: a reader ticks them.

import { make, tickBox } from "../../common/dom.js";
import { startName } from "../charts/population_charts.js";

const AT_FIRST = 6;

export class Ticks {
  constructor(app) {
    this.app = app;
    this.ticked = new Map(); // of each model, as indices of its scenarios
  }

  of(model) {
    if (!this.ticked.has(model)) this.ticked.set(model, usual(model));
    return this.ticked.get(model);
  }

  shown() {
    const { app } = this, { model, setting } = app.shown;
    return [...this.of(model)].filter((i) => i !== setting.start || app.isChanged());
  }

  show() {
    const { model, graph } = this.app.shown, place = document.getElementById("starts");
    if (!place) return;
    place.hidden = model.starts.length < 2 || graph.quality === null;
    if (this.shownOf === model) return;
    this.shownOf = model;
    const ticked = this.of(model);
    place.replaceChildren(make("summary", null, "Scenarios in the quality charts"), make("div", { class: "ticks" },
      model.starts.map((start, i) => tickBox(startName(model, i), ticked.has(i), (isTicked) => {
        if (isTicked) ticked.add(i); else ticked.delete(i);
        this.app.redraw();
        this.app.past?.note();
      }, start.doc || null))));
  }

  // -- in an address: `1:calm,busy;2:calm`, for each spec of the page that has others ticked than at first

  get said() {
    const models = this.app.models.map((model, i) => [i, model]).filter(([, model]) => namesOf(model, this.of(model)) !== namesOf(model, usual(model)));
    return models.length ? models.map(([i, model]) => `${i + 1}:${namesOf(model, this.of(model))}`).join(";") : null;
  }

  say(text) {
    const said = new Map((text ?? "").split(";").map((part) => [part.slice(0, part.indexOf(":")), part.slice(part.indexOf(":") + 1).split(",")]));
    this.app.models.forEach((model, i) => {
      const names = said.get(String(i + 1));
      const found = names ? model.starts.flatMap((start, k) => (names.includes(nameOf(start)) ? [k] : [])) : usual(model);
      this.ticked.set(model, new Set(found));
    });
    this.shownOf = null;
    this.show();
  }

  offers(text) { return this.said === text; }
}

function usual(model) { return new Set([...model.starts.keys()].slice(0, AT_FIRST)); }

function namesOf({ starts }, ticked) { return [...ticked].sort((a, b) => a - b).map((i) => nameOf(starts[i])).join(","); }

function nameOf({ name }) { return name || "-"; }
