// Parts of the page that are folded away are shown behind the frame of a change; those that are open, with it.

const BEHIND = 60; // ms without a change after which they follow

export class FoldedParts {
  constructor(isHurried) {
    Object.assign(this, { isHurried, waiting: [], timer: null });
    document.addEventListener("toggle", () => this.finish(), true);
  }

  // `parts` are functions by the place that they fill.
  show(parts) {
    clearTimeout(this.timer);
    this.waiting = [];
    for (const [id, show] of Object.entries(parts)) if (this.isHurried && isFolded(id)) this.waiting.push(show); else show();
    if (this.waiting.length) this.timer = setTimeout(() => this.finish(), BEHIND);
  }

  finish() {
    clearTimeout(this.timer);
    for (const show of this.waiting.splice(0)) show();
  }
}

function isFolded(id) { return Boolean(document.getElementById(id)?.closest("details:not([open])")); }

// A part of the page that is folded away is opened by a link to it.
export function unfold(hash) {
  const fold = hash && document.getElementById(hash.slice(1))?.querySelector(".fold, .part");
  if (fold) fold.open = true;
}
