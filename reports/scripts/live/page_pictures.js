// The pictures of a page: what each of them draws, and the controls that it has of its own.

import { make } from "../common/dom.js";
import { number } from "../common/format.js";
import { Choice, Picture, switchOf } from "../common/picture.js";
import { drawTornado } from "./charts/bar_chart.js";
import { clockAxis } from "./charts/clock_axis.js";
import { CycleCourse } from "./charts/cycle_course.js";
import { drawTogether } from "./charts/limit_chart.js";
import { drawLoads, drawNeeds, drawQuality, drawShares, linePicture } from "./charts/population_charts.js";
import { countOfAxes, drawSpace, drawSpace3, offerAxes } from "./charts/quality_space.js";
import { drawTopology } from "./charts/topology.js";
import { drawWaterfall } from "./charts/waterfall.js";
import { IncidentCourse } from "./incidents/incident_course.js";
import { IncidentFacts } from "./incidents/incident_facts.js";
import { Slide } from "./view_settings.js";

// Pictures for which the page has a place, in the order of the page; controls are also part of its address.
export function picturesOf(app) {
  const pictures = new PagePictures(app);
  pictures.addCurves();
  pictures.addSpace();
  if (app.sure) pictures.add("histogram", (column, width) => app.sure.draw(column, width), app.sure.controls);
  pictures.addRequest();
  pictures.addHeat();
  pictures.addFigures();
  return pictures.found;
}

// What no reader has come to yet is drawn when nothing else is to be done, so that the page does not move
// under a reader; true when all is drawn.
export function drawNext(pictures) {
  const next = pictures.find((one) => one.isStale && (one.isNear || (!one.drawn && one.place.checkVisibility())));
  next?.redraw();
  return !next;
}

class PagePictures {
  constructor(app) { Object.assign(this, { app, found: [] }); }

  add(key, draws, controls) {
    const place = document.getElementById(`picture-${key}`);
    if (!place) return null;
    const picture = new Picture(place, key, (width) => draws(this.app.shown, width), controls);
    this.found.push(picture);
    return picture;
  }

  // `controls` by the words that addresses have for them; `more` pictures follow them, too.
  withControl(key, controls, draws, more = []) {
    const picture = this.add(key, draws, Object.values(controls));
    if (!picture) return;
    const its = () => this.found.filter((one) => one === picture || more.includes(one.key));
    for (const [word, one] of Object.entries(controls)) {
      one.change = () => its().forEach((each) => each.change());
      this.app.looks.add(`${key}.${word}`, one, () => its().forEach((each) => each.redraw()));
    }
  }

  // What a reader chooses of a picture is an act as others are.
  own(build) {
    const made = build(() => {
      made.change();
      this.app.past?.note();
    });
    return made;
  }

  scale() { return this.own((run) => switchOf("Log scale", run)); }

  choice(text) { return this.own((run) => new Choice(text, run)); }

  // The scenarios with a tick begin where the reader has set them.
  starts() { return this.app.ticks.shown(); }

  addCurves() {
    const { app } = this, noted = (drawn) => app.sure?.noted(drawn) ?? drawn;
    const loads = this.scale(), needs = this.scale(), quality = this.scale(), shares = this.choice("Resource");
    this.add("together", (_, width) => drawTogether(app.columns, width));
    this.withControl("loads", { log: loads }, (column, width) => noted(drawLoads(column, width, loads.value)));
    this.withControl("shares", { of: shares }, (column, width) => drawShares(column, width, shares));
    this.withControl("needs", { log: needs }, (column, width) => noted(drawNeeds(column, width, needs.value)));
    this.withControl("quality", { log: quality }, (column, width) => drawQuality(column, width, quality.value, this.starts(), app.columns));
  }

  addSpace() {
    const { app } = this, [across, up, left] = ["x-axis", "y-axis", "z-axis"].map((text) => this.choice(text));
    const deep = this.own((run) => switchOf("3D", run)), turn = this.own((run) => new Slide("turn", "Rotate", 40, run));
    app.looks.add("quality.scenarios", app.ticks, () => app.redraw());
    this.withControl("space", { across, up, left, deep, turn }, (column, width) => {
      const isPossible = countOfAxes(column) > 2, isDeep = isPossible && deep.value;
      offerAxes(column, [across, up, left]);
      const drawn = isDeep ? drawSpace3(column, width, [across, left, up], turn, this.starts(), app.columns) : drawSpace(column, width, [across, up], this.starts(), app.columns);
      deep.label.hidden = !isPossible;
      left.label.hidden = turn.label.hidden = !isDeep;
      return drawn;
    });
  }

  // One request for both: the strip tells the steps of the stream that is drawn.
  addRequest() {
    const by = this.choice("Color by"), stream = this.choice("Request path of");
    this.withControl("topology", { of: stream, by }, (column, width) => drawTopology(column, width, { stream, by }), ["waterfall"]);
    this.app.requestStream = stream;
    this.add("waterfall", (column, width) => drawWaterfall(column, width, stream));
  }

  addHeat() {
    const { app } = this, [what, x, y] = ["Show", "x-axis", "y-axis"].map((text) => this.choice(text));
    this.add("tornado", drawTornado);
    app.heatChoices = { what, x, y };
    this.withControl("heat", { show: what, across: x, up: y }, (column, width) => app.drawHeat(column, width));
    app.heatPicture = this.found.find((one) => one.key === "heat");
  }

  addFigures() {
    const { app } = this, data = app.figures["course-load"]?.course, cycle = data && app.columns.length ? new CycleCourse(app, data) : null;
    if (cycle?.isKnown) this.addCycle(cycle, data);
    const followed = new Set(this.addIncidents());
    for (const [key, figure] of Object.entries(app.figures)) {
      if ((cycle?.isKnown && key in CYCLE) || followed.has(key)) continue;
      const picture = this.add(`figure-${key}`, (column, width) => drawFigure(figure, width));
      if (picture) picture.isOfSpec = true; // it stays as it is, whatever is set
    }
  }

  // Incidents follow the setting, with charts of those resources that it makes the busiest; the keys of the figures that do.
  addIncidents() {
    const { app } = this;
    return Object.entries(app.figures).flatMap(([key, { course }]) => {
      if (!key.endsWith("-requests") || !course || !app.columns.length) return [];
      const incident = new IncidentCourse(app, course), prefix = key.slice(0, -"requests".length);
      if (!incident.isKnown) return [];
      const own = Object.keys(app.figures).filter((one) => INCIDENT.test(one.slice(prefix.length)) && one.startsWith(prefix));
      this.addIncident(incident, prefix, own.map((one) => one.slice(prefix.length)));
      return own;
    });
  }

  addIncident(incident, prefix, usual) {
    const charts = document.getElementById(`picture-figure-${prefix}requests`).parentElement;
    const show = (key) => {
      const id = `picture-figure-${prefix}${key}`;
      if (!document.getElementById(id)) {
        const place = make("figure", { class: "picture", id });
        if (key.startsWith("load-")) charts.prepend(place); else charts.append(place);
      }
      return this.add(`figure-${prefix}${key}`, (column, width) => {
        const figure = incident.figure(key);
        return figure && drawFigure(figure, width);
      });
    };
    const shown = new Map([...usual, "backlog", "servers", "hits"].map((key) => [key, show(key)]));
    shown.get("requests").companion = new IncidentFacts(incident, charts, () => {
      for (const key of incident.loads.filter((one) => !shown.has(one))) shown.set(key, show(key));
    });
  }

  // The day or the week follows the setting; there may be a backlog only after a change.
  addCycle(cycle, data) {
    const { app } = this, load = document.getElementById("picture-figure-course-load");
    if (!load) return;
    if (!document.getElementById("picture-figure-course-backlog")) load.after(make("figure", { class: "picture", id: "picture-figure-course-backlog", hidden: true }));
    const figures = { "course-load": app.figures["course-load"], "course-backlog": app.figures["course-backlog"] ?? { ...app.figures["course-load"], title: data.backlog } };
    const heading = load.closest(".courses").previousElementSibling;
    for (const [key, kind] of Object.entries(CYCLE)) {
      this.add(`figure-${key}`, (column, width) => {
        const figure = cycle.figure(kind, figures[key]);
        if (heading?.matches("h3") && cycle.shown) heading.textContent = cycle.heading;
        return figure && drawFigure(figure, width);
      });
    }
  }
}

const INCIDENT = /^(?:load-.*|requests|backlog|servers|hits)$/;

// The figures of a day or a week, and what they show of it.
const CYCLE = { "course-load": "load", "course-backlog": "backlog" };

// A figure of the spec: its lines are those of the spec's own configurations.
function drawFigure(figure, width) {
  const [xFactor, xUnit] = figure.x.scale, [yFactor, yUnit] = figure.y.scale;
  const values = Float64Array.from(figure.x.values, (v) => v / xFactor);
  const series = figure.lines.map((line) => ({ name: line.name, values: line.values.map((v) => (v === null ? NaN : v / yFactor)) }));
  return linePicture(figure.title + (yUnit ? `, in ${yUnit}` : ""), {
    x: figure.x.cycle ? clockAxis(figure.x) : { label: xUnit ? `${figure.x.name}, ${xUnit}` : figure.x.name, values, isLog: figure.x.isLog, format: (v) => number(v) },
    y: { isLog: figure.y.isLog, format: (v) => number(v), formatValue: (v) => `${number(v)}${yUnit ? ` ${yUnit}` : ""}` }, series,
  }, width);
}
