// Parts of the page that are folded away or out of sight are shown behind the frame of a change; those in sight, with it.

const BEHIND = 60; // ms without a change after which they follow

export class FoldedParts {
  constructor(isHurried) {
    Object.assign(this, { isHurried, waiting: [], timer: null, outOfSight: new Set(), watched: new Set() });
    document.addEventListener("toggle", () => this.finish(), true);
    this.watcher = isHurried && globalThis.IntersectionObserver ? new IntersectionObserver((entries) => this.moved(entries)) : null;
  }

  // Where the places of parts are now: what comes into sight is shown at once.
  moved(entries) {
    for (const { target: { id }, isIntersecting } of entries) if (isIntersecting) this.outOfSight.delete(id); else this.outOfSight.add(id);
    if (entries.some((one) => one.isIntersecting)) this.finish();
  }

  isLater(id) {
    const place = document.getElementById(id);
    if (this.watcher && place && !this.watched.has(place)) {
      this.watched.add(place);
      this.watcher.observe(place);
    }
    return Boolean(place?.closest("details:not([open])")) || this.outOfSight.has(id);
  }

  // `parts` are functions by the place that they fill.
  show(parts) {
    clearTimeout(this.timer);
    this.waiting = [];
    for (const [id, show] of Object.entries(parts)) if (this.isHurried && this.isLater(id)) this.waiting.push(show); else show();
    if (this.waiting.length) this.timer = setTimeout(() => this.finish(), BEHIND);
  }

  finish() {
    clearTimeout(this.timer);
    for (const show of this.waiting.splice(0)) show();
  }
}

// A part of the page that is folded away is opened by a link to it.
export function unfold(hash) {
  const fold = hash && document.getElementById(hash.slice(1))?.querySelector(".fold, .part");
  if (fold) fold.open = true;
}
