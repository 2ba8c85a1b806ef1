// The playground: a text, what is told of it as one types, and its live page beside it.
import { indentWithTab } from "@codemirror/commands";
import { StreamLanguage } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";

import { qps } from "../../editors/codemirror/qps.js";
import { packed, unpacked } from "./link.js";

const PAUSE = 120; // milliseconds without a key, before a text is read
const state = document.getElementById("state");
const told = document.getElementById("told");
const frame = document.getElementById("page");
const worker = new Worker("worker.js", { type: "module" });

let latest = 0; // the newest text that was sent: answers to older ones are not shown
let waiting;
let page; // the newest live page: its frame asks for it when it begins

const editor = new EditorView({
  parent: document.getElementById("editor"),
  extensions: [
    basicSetup,
    keymap.of([indentWithTab]),
    StreamLanguage.define(qps),
    lintGutter(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": "Spec" }),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      clearTimeout(waiting);
      waiting = setTimeout(ask, PAUSE);
    }),
  ],
});

function ask() {
  latest += 1;
  worker.postMessage({ number: latest, text: editor.state.doc.toString() });
}

function write(text) {
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
}

addEventListener("message", ({ source, data }) => {
  if (source === frame.contentWindow && data === "ready" && page !== undefined)
    frame.contentWindow.postMessage(page, "*");
});

function mark(found) {
  state.textContent = `QPS ${VERSION}`;
  editor.dispatch(setDiagnostics(editor.state, found));
}

const ANSWERS = {
  diagnostics({ found, text }) {
    mark(found);
    told.className = "";
    told.textContent = text;
  },
  answer({ found, text }) {
    performance.mark("answer");
    mark(found);
    told.className = "answer";
    told.textContent = text;
  },
  page({ html }) {
    page = html;
    frame.src = "page.html"; // once it has a document it takes another where it begins anew
  },
  failed({ text }) {
    state.textContent = "Something went wrong";
    told.className = "";
    told.textContent = text;
  },
};

worker.addEventListener("message", ({ data }) => {
  if (data.number !== undefined && data.number !== latest) return;
  ANSWERS[data.kind](data);
});
worker.addEventListener("error", (event) => ANSWERS.failed({ text: event.message || "Python could not be loaded" }));

document.getElementById("link").addEventListener("click", async () => {
  history.replaceState(null, "", `#${await packed(editor.state.doc.toString())}`);
  await navigator.clipboard?.writeText(location.href).catch(() => undefined);
  state.textContent = "The link in the address holds this text";
});

const list = document.getElementById("examples");
for (const name of Object.keys(EXAMPLES)) list.append(new Option(name));
list.addEventListener("change", () => write(EXAMPLES[list.value]));

async function begin() {
  if (location.hash.length < 2) return;
  try {
    write(await unpacked(location.hash.slice(1)));
  } catch {
    ANSWERS.failed({ text: "The link does not hold a text that can be read: it was cut, perhaps." });
  }
}
addEventListener("hashchange", begin);
if (location.hash.length < 2) write(EXAMPLES[list.value]);
else begin();
performance.mark("text");
