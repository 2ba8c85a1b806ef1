// Work in slices: a generator that stops wherever it may wait, so that no frame waits for it.

// What it comes to, however long that takes.
export function finished(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

// Work at it until some time; true where it is done, and `take` has what it comes to.
export function sliced(work, until, take) {
  do {
    const { done, value } = work.next();
    if (done) {
      take?.(value);
      return true;
    }
  } while (performance.now() < until);
  return false;
}
