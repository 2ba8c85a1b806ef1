// What was done on the page, step by step: back and forth again, and in the address, so that it can be kept and sent.

import { make } from "../common/dom.js";
import { folds } from "./view_settings.js";
import { fileOf } from "./sentences.js";
import { pairsIn, quotedShort, escaped, Refused, stateIn, stateOf, VERSION } from "./state.js";

const TOGETHER = 1000; // ms within which keys that move a slider are one act
const ADDRESS_DELAY = 250; // ms without a change after which the address follows: browsers refuse hundreds of them
const STATE = /^#qps(\d+)(?:&(.*))?$/s;

export class Past {
  constructor(app, place) {
    Object.assign(this, { app, together: app.isHurried ? TOGETHER : Infinity, steps: [stateOf(app)], at: 0, touched: null, isOpen: false, entry: 0, entries: [] });
    const button = (text, run, title) => make("button", { type: "button", title, on: { click: run } }, text);
    this.back = button("Undo", () => this.go(-1), "Ctrl+Z");
    this.forth = button("Redo", () => this.go(1), "Ctrl+Shift+Z");
    this.status = make("span", { role: "status", class: "soft" });
    this.link = make("input", { type: "text", readonly: true, class: "link", "aria-label": "Link to this page with the current settings", hidden: true });
    place.append(this.back, this.forth);
    const copy = document.getElementById("copy-link");
    copy.addEventListener("click", () => this.copyLink());
    copy.before(this.status, this.link);
    this.trouble = make("p", { id: "linked", class: "trouble", role: "alert" });
    document.querySelector("header").append(this.trouble);
    this.listen();
    this.open();
    this.show();
  }

  listen() {
    const touch = ({ target }) => {
      this.touched = target;
      // A link to a part of the page makes an entry of the history: what was done before comes before it.
      if (this.writing && target.closest?.("a[href^='#']")) this.write();
    };
    for (const event of ["input", "change", "click"]) document.addEventListener(event, touch, true);
    document.addEventListener("pointerdown", () => { this.isOpen = false; this.when = -Infinity; }, true);
    document.addEventListener("change", () => { this.isOpen = false; });
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("hashchange", () => this.arrive());
    for (const [, fold] of folds()) fold.addEventListener("toggle", () => this.note());
  }

  // -- steps ---------------------------------------------------------------------------

  // Something was shown: where it is another state it is a step. All that one drag does, or one hand
  // that types in a field, is the same step.
  note() {
    const { app, steps, touched } = this, now = stateOf(app);
    if (this.isGoing || now === steps[this.at]) return;
    const isSame = this.control === touched && (this.isOpen || (touched?.type === "range" && performance.now() - this.when < this.together));
    if (!isSame) {
      if (this.writing) this.write(true);
      this.at++;
    }
    steps.splice(this.at, Infinity, now);
    this.control = touched;
    if (isSame && steps[this.at - 1] === now) { // it was taken back in the same breath
      steps.length = this.at--;
      this.control = null;
    }
    this.isOpen = ["range", "text"].includes(touched?.type);
    this.when = performance.now();
    this.trouble.textContent = "";
    this.show();
    this.later();
  }

  go(by) {
    this.app.finishChange(); // what is still being worked out is a step, too
    if (this.writing) this.write();
    const state = this.steps[this.at + by];
    if (state === undefined || !this.tried(() => this.restore(state), "Not restored")) return;
    this.at += by;
    this.show();
    this.write();
    const [button, other] = by < 0 ? [this.back, this.forth] : [this.forth, this.back];
    if (button.disabled && document.activeElement === document.body) other.focus();
  }

  key(event) {
    const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey, letter = event.key.toLowerCase();
    if (!isCommand || !["z", "y"].includes(letter) || event.target.matches("input[type=text], textarea")) return;
    event.preventDefault();
    this.go(letter === "y" || event.shiftKey ? 1 : -1);
  }

  show() {
    this.back.disabled = this.at === 0;
    this.forth.disabled = this.at === this.steps.length - 1;
    this.status.textContent = "";
    this.link.hidden = true;
  }

  // Put the page into a state; Refused where it cannot be, and the page stays as it is. What its pictures
  // do not offer as it is set is returned.
  restore(text) { return this.take(stateIn(pairsIn(text), this.app)); }

  take(state) {
    const focused = document.activeElement, { id, ariaLabel } = focused;
    focused.blur(); // what a reader is about to move is not written over
    this.isGoing = true;
    const trouble = this.app.restore(state), missed = trouble ? [] : this.app.looks.show(state.looks);
    this.isGoing = false;
    const again = focused.isConnected ? focused : [...document.querySelectorAll("input, select")].find((one) => one.id === id && one.ariaLabel === ariaLabel);
    again?.focus({ preventScroll: true });
    if (trouble) throw new Refused(trouble);
    return missed;
  }

  // -- the address -----------------------------------------------------------------------

  // What stands behind # for a state; nothing where the page is as it came.
  fragment(state = this.steps[this.at]) {
    return state ? `#${[`qps${VERSION}`, `of=${escaped(this.name)}`, state].join("&")}` : "";
  }

  // The page by its specs, and by a checksum of all that it holds.
  get name() { return `${this.files}~${this.app.checksum}`; }

  get files() { return this.app.models.map(fileOf).join(","); }

  later() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.write(), ADDRESS_DELAY);
  }

  // Each step has an entry of its own in the history of the browser; that takes it long, and may wait for a frame.
  write(isLater = false) {
    clearTimeout(this.writing);
    this.writing = null;
    this.enter(this.entered === this.at ? "replaceState" : "pushState", this.steps[this.at], isLater);
    this.entered = this.at;
  }

  enter(how, state, isLater = false) {
    this.entries.push([how, state, this.fragment(state)]);
    if (isLater) setTimeout(() => this.enterAll()); else this.enterAll();
  }

  enterAll() {
    for (const [how, state, fragment] of this.entries.splice(0)) {
      try {
        window.history[how]({ qps: state }, "", window.location.href.split("#")[0] + fragment);
      } catch {
        // a browser that refuses this shows the page all the same; the link can still be copied
      }
    }
  }

  // The address that the page was opened with.
  open() {
    const { hash } = window.location, isAgain = window.history.state?.qps !== undefined;
    if (hash) this.read(hash, isAgain);
    this.steps = [stateOf(this.app)];
    this.entered = 0;
    this.tag();
  }

  // The entry of the history that is shown says which state it is of.
  tag() {
    try {
      window.history.replaceState({ qps: this.steps[this.at] }, "");
    } catch {
      // as above
    }
  }

  // Another address: one of the history, a part of this page, or what somebody wrote there.
  arrive() {
    const { hash } = window.location, known = window.history.state?.qps;
    if (known === undefined && !STATE.test(hash) && document.getElementById(hash.slice(1))) {
      this.note(); // a part that it leads to may have been folded
      clearTimeout(this.writing);
      this.writing = null;
      this.entered = this.at;
      if (this.steps[this.at]) this.enter("replaceState", this.steps[this.at]);
      else this.tag();
      return;
    }
    this.trouble.textContent = "";
    if (known === this.steps[this.at]) return;
    const found = [this.at - 1, this.at + 1].find((i) => this.steps[i] === known);
    if (known === undefined ? this.read(hash) : this.tried(() => this.restore(known))) this.arrived(found);
    this.show();
  }

  arrived(found) {
    if (found === undefined) this.steps.splice(++this.at, Infinity, stateOf(this.app));
    else this.at = found;
    this.entered = this.at;
    this.tag();
  }

  // Take what stands behind # in an address; what cannot be taken is told, and nothing else happens.
  read(hash, isAgain = false) {
    return this.tried(() => {
      const [, version, text = ""] = STATE.exec(hash) ?? [];
      if (!version) {
        if (document.getElementById(hash.slice(1))) return;
        throw new Refused(`${quotedShort(decoded(hash))} is neither a section of this page nor a setting`);
      }
      if (Number(version) !== VERSION) throw new Refused("it was made by another version of QPS");
      const pairs = pairsIn(text), of = pairs.find(([word]) => word === "of")?.[1] ?? "";
      const [files, sum] = [of.slice(0, of.lastIndexOf("~")), of.slice(of.lastIndexOf("~") + 1)];
      if (files !== this.files) throw new Refused(`it belongs to another report${files ? `, of ${quotedShort(files)}` : ""}`);
      const missed = this.take(stateIn(pairs.filter(([word]) => word !== "of"), this.app));
      const remarks = missed.length ? [`Chart options of the link are not available: ${missed.map(quotedShort).join(", ")}.`] : [];
      if (!isAgain && `${files}~${sum}` !== this.name) remarks.unshift("The link is from another version of this page: its settings are applied, but results may differ.");
      this.trouble.textContent = remarks.join(" ");
    });
  }

  tried(run, what = "Link not applied") {
    this.trouble.textContent = "";
    try {
      run();
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.trouble.textContent = `${what}: ${error.message}.`;
      return false;
    }
  }

  // -- the link ----------------------------------------------------------------------------

  async copyLink() {
    if (this.writing) this.write();
    const link = window.location.href.split("#")[0] + this.fragment();
    try {
      await window.navigator.clipboard.writeText(link);
      this.status.textContent = "Copied.";
    } catch {
      this.status.textContent = "The browser blocked copying. The link is selected: copy it from the field.";
      this.link.value = link;
      this.link.hidden = false;
      this.link.select();
    }
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
