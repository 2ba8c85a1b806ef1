// Python with QPS in it, away from the page: texts come in, what is told of them goes out.
import { loadPyodide } from "./pyodide/pyodide.mjs";
import { started } from "./startup.js";

let newest;
let busy = true;
let bridge;

const fetched = async (name) => {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return answer;
};
const bytes = async (name) => new Uint8Array(await (await fetched(name)).arrayBuffer());

async function inflated(name) {
  const { body } = await fetched(name);
  const found = await new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  performance.mark(name);
  return new Uint8Array(found);
}

async function load() {
  const files = {
    loadPyodide,
    createModule: async () => (await import("./pyodide/pyodide.asm.mjs")).default,
    indexURL: new URL("./pyodide/", import.meta.url).href,
    libraries: inflated("libraries.bin"),
    archive: bytes("python.zip"),
  };
  try {
    bridge = (await started({ ...files, memory: inflated("memory.bin") })).pyimport("editor_bridge");
  } catch (error) {
    console.warn("Python starts without its saved memory, which takes longer:", error);
    bridge = (await started(files)).pyimport("editor_bridge");
  }
  performance.mark("Python");
  busy = false;
  work();
}

// Of texts that come while one is read, the newest is read next.
async function work() {
  if (busy || newest === undefined) return;
  busy = true;
  const { number, text } = newest;
  newest = undefined;
  postMessage({ kind: "begun", number });
  try {
    for (const step of ["examined", "page"]) {
      const answer = JSON.parse(bridge[step](text));
      postMessage({ number, ...answer });
      if (answer.kind !== "answer") break;
      await new Promise((done) => setTimeout(done)); // a newer text may have come
      if (newest !== undefined) break;
    }
  } catch (error) {
    postMessage({ kind: "failed", number, text: String(error) });
  }
  postMessage({ kind: "done", number });
  busy = false;
  work();
}

function answer({ number, feature, given }) {
  let found;
  try {
    found = bridge === undefined ? undefined : JSON.parse(bridge[feature](...given));
  } catch (error) {
    console.warn(feature, error);
  }
  postMessage({ kind: "reply", number, found });
}

addEventListener("message", ({ data }) => {
  if (data.feature !== undefined) {
    answer(data);
    return;
  }
  newest = data;
  work();
});

load().catch((error) => postMessage({ kind: "failed", text: `Python did not load: ${error}` }));
