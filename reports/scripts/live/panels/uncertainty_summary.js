// How sure the answer is where all samples are drawn in the page, also those of what it begins with: then it
// solves for what to measure next, too, and tells whoever shows it what its answer is like.

import { make, table } from "../../common/dom.js";
import { percent, roundedDown, whole } from "../../common/format.js";
import { sliced } from "../../common/slices.js";
import { Shares } from "../../engine/sensitivity_indices.js";
import { called } from "../labels.js";
import { nounOf } from "../sentences.js";
import { CERTAINTY } from "../../engine/samples.js";
import { Uncertainty } from "./uncertainty.js";

const LEAST_SHOWN = 0.005; // errors below are not shown

export class Drawn extends Uncertainty {
  begin(column) {
    super.begin(column);
    Object.assign(this, { shares: null, spent: 0, isLeft: false });
  }

  work(until) {
    if (!super.work(until)) return false;
    return !this.answers?.isDone || this.isLeft || this.share(until);
  }

  // Work at the shares of numbers, of the samples that were answered.
  share(until) {
    this.shares ??= new Shares(this.samples, this.answers.found.map((one) => one && one.largest), this.seed, CERTAINTY);
    const { shares } = this;
    if (shares.isDone) return true;
    const start = performance.now();
    while (!shares.isDone && performance.now() < until) {
      shares.now ??= shares.answering(this.column.graph);
      if (sliced(shares.now, until)) shares.now = null;
    }
    this.spent += performance.now() - start;
    this.isLeft = this.spent > this.longest;
    if (!shares.isDone && !this.isLeft) return false;
    this.refresh();
    return true;
  }

  measures(uncertainty) {
    if (this.isLeft && !this.shares.isDone) return [make("p", { class: "soft" }, "What to measure next takes longer to compute than this page allows. Run ", make("code", null, "qps solve"), ".")];
    if (!uncertainty || !this.shares?.isDone) return [];
    const { model, graph } = this.column;
    const rows = this.shares.result(uncertainty.atConfidence ?? graph.low - 1, graph.low).map(({ names, first, total, capacityIfHalved }) => {
      const stated = graph.numbers.find((one) => names.includes(one.name))?.text ?? "";
      return [called(model, names[0]), stated, formatShare(first), formatShare(total), capacityIfHalved === null ? "none" : roundedDown(capacityIfHalved)];
    });
    const noun = nounOf(model), heading = noun[0].toUpperCase() + noun.slice(1);
    const head = ["Measure next", "Specified", "Share of variance", "With interactions", `${heading} if uncertainty is halved`];
    const of = `From ${whole(this.shares.count)} samples per input; ± is the 90 % confidence interval of a share.`;
    return [table(head, rows, new Set([2, 3, 4])), make("p", { class: "soft" }, of)];
  }

  refresh() {
    super.refresh();
    const { answers, app, column, first, seed } = this;
    if (this.hasReported || column !== first || seed !== 1 || column.setting.start !== column.began || app.isChanged()) return;
    if (answers && !answers.isDone && !answers.isLeft) return;
    this.hasReported = true;
    window.dispatchEvent(new CustomEvent("uncertainty", { detail: { lines: this.lines(this.uncertainty) } }));
  }
}

function formatShare({ share, error }) {
  const is = percent(share, 2);
  return error < LEAST_SHOWN ? is : `${is.slice(0, -" %".length)} ± ${percent(error, 1)}`;
}
