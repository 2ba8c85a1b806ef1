// Work in slices: a generator that stops wherever it may wait, so that no frame waits for it.

// What it comes to, however long that takes.
export function finished(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

// Work at it until some time; true where it is done, and `take` has what it comes to.
// The clock costs as much as a short step: while steps are short, several are taken between two looks at it.
export function sliced(work, until, take) {
  for (let steps = 1, before = performance.now(); ;) {
    for (let i = 0; i < steps; i++) {
      const { done, value } = work.next();
      if (done) {
        take?.(value);
        return true;
      }
    }
    const now = performance.now();
    if (now >= until) return false;
    steps = now - before < SHORT ? Math.min(MOST_STEPS, 2 * steps) : 1;
    before = now;
  }
}

const SHORT = 0.1, MOST_STEPS = 16; // ms of all steps between two looks
