// Python beside the page: it reads the newest text, answers what an editor asks, and begins anew where a text takes too long.
const MOST = 30_000; // milliseconds for a text
const WHILE_ONE_WAITS = 3_000; // as long, where a newer one waits
const LOOK = 250;

const TOO_LONG =
  `Stopped after ${MOST / 1000} s: Python in a browser is slower than a local installation. Reduce the range of users or the number ` +
  "of claims, or run `qps report` locally.";

// `tell` takes each part of what is told of the newest text, and {kind: "working"} when it takes a while.
export function python(report) {
  let worker;
  let number = 0;
  let newest;
  let at; // the text that is worked on, and since when
  const pending = new Map();

  function send(text) {
    newest = text;
    worker.postMessage(newest);
  }

  const TAKES = {
    begun: (data) => {
      at = { number: data.number, since: performance.now() };
    },
    done: () => {
      at = undefined;
    },
    reply: (data) => {
      pending.get(data.number)?.(data.found);
      pending.delete(data.number);
    },
  };

  function begin() {
    at = undefined;
    worker = new Worker("worker.js", { type: "module" });
    worker.addEventListener("message", ({ data }) => {
      if (TAKES[data.kind]) TAKES[data.kind](data);
      else if (data.number === undefined || data.number === newest?.number) report(data);
    });
    worker.addEventListener("error", ({ message }) => report({ kind: "failed", text: message || "Python did not load" }));
  }

  function anew() {
    worker.terminate();
    for (const answer of pending.values()) answer(undefined);
    pending.clear();
    begin();
  }

  setInterval(() => {
    if (at === undefined) return;
    const taken = performance.now() - at.since;
    const waits = newest !== undefined && newest.number !== at.number;
    if (taken > (waits ? WHILE_ONE_WAITS : MOST)) {
      anew();
      if (waits) send(newest);
      else report({ kind: "failed", text: TOO_LONG });
    } else if (taken > LOOK) report({ kind: "working" });
  }, LOOK);

  begin();
  return {
    read: (text) => send({ number: ++number, text }),
    forget: () => {
      newest = undefined; // what is told of texts so far is not shown any more
    },
    ask: (feature, ...given) =>
      new Promise((answer) => {
        pending.set(++number, answer);
        worker.postMessage({ number, feature, given });
      }),
  };
}
