// Python with QPS in it, away from the page: texts come in, what is told of them goes out.
import { loadPyodide } from "./pyodide/pyodide.mjs";

let newest;
let busy = true;
let python;

async function load() {
  const [found, files] = await Promise.all([
    loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href }),
    fetch("python.zip").then((answer) => answer.arrayBuffer()),
  ]);
  found.unpackArchive(files, "zip", { extractDir: "/python" });
  found.runPython("import sys; sys.path.insert(0, '/python')");
  python = found.pyimport("playing");
  const { examples, version } = JSON.parse(python.beginning());
  postMessage({ kind: "loaded", examples, version });
  busy = false;
  work();
}

// Of texts that come while one is read, the newest is read next.
async function work() {
  if (busy || newest === undefined) return;
  busy = true;
  const { number, text } = newest;
  newest = undefined;
  try {
    for (const step of ["told", "page"]) {
      const answer = JSON.parse(python[step](text));
      if (answer.kind) postMessage({ number, ...answer });
      if (answer.kind !== "answer") break;
      await new Promise((done) => setTimeout(done)); // a newer text may have come
      if (newest !== undefined) break;
    }
  } catch (error) {
    postMessage({ kind: "failed", number, text: String(error) });
  }
  busy = false;
  work();
}

addEventListener("message", ({ data }) => {
  newest = data;
  work();
});

load().catch((error) => postMessage({ kind: "failed", text: `Python could not be loaded: ${error}` }));
