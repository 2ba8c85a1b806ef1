// The playground: a text, what is told of it as one types, and its live page beside it.
import { indentWithTab } from "@codemirror/commands";
import { StreamLanguage } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";

import { qps } from "../../editors/codemirror/qps.js";
import { completions, hovers } from "./editor_queries.js";
import { colors } from "./colors.js";
import { packed, unpacked } from "./link.js";
import { loads, showLoads } from "./loads.js";
import { python } from "./python.js";

const PAUSE = 120; // milliseconds without a key, before a text is read
const state = document.getElementById("state");
const status = document.getElementById("told");
const frame = document.getElementById("page");

let waiting;
let reading; // the text that was read last
let page; // the newest live page, and the number of its text: its frame asks for it when it begins
let sure; // how sure the answer is: the page draws samples, and tells it

const ANSWERS = {
  working() {
    state.textContent = "Solving …";
  },
  diagnostics({ found, text }) {
    mark(found);
    frame.className = "old";
    show(text, "");
  },
  answer({ found, text, loads: at }) {
    performance.mark("answer");
    mark(found);
    if (editor.state.doc === reading) showLoads(editor, at);
    show(text, "answer");
  },
  page({ html, lacks, draws, number }) {
    if (draws) sure = add("span", "Uncertainty of capacity: computing …");
    if (lacks) add("small", lacks);
    page = { html, number };
    frame.className = "";
    frame.src = "page.html"; // once it has a document it takes another where it begins anew
    rest();
  },
  failed({ text }) {
    frame.className = "old";
    state.textContent = "Error";
    show(text, "");
  },
};

const { read, forget, ask } = python((data) => ANSWERS[data.kind](data));
const languageData = { ...qps.languageData, autocomplete: completions(ask, qps.languageData.autocomplete) };
const editor = new EditorView({
  parent: document.getElementById("editor"),
  extensions: [
    basicSetup,
    keymap.of([indentWithTab]),
    StreamLanguage.define({ ...qps, languageData }),
    hovers(ask),
    loads,
    colors,
    lintGutter(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": "Spec" }),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        reading = editor.state.doc;
        read(reading.toString());
      }, PAUSE);
    }),
  ],
});

function write(text) {
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
}

function add(tag, text) {
  const element = Object.assign(document.createElement(tag), { textContent: text });
  status.append(document.createElement("br"), element);
  return element;
}

function show(text, kind) {
  sure = undefined; // of the text before
  status.className = kind;
  status.textContent = text;
}

function rest() {
  state.textContent = `QPS ${VERSION}`;
}

// A fix is made in the text that it was told of: what changes afterwards takes the mark away, or moves it.
function mark(found) {
  rest();
  if (editor.state.doc !== reading) return; // places of a text before; that of now is read next
  const marks = found.map(({ fixes, ...one }) => ({
    ...one,
    actions: fixes.map(({ title, edits }) => ({ name: title, apply: (view) => view.dispatch({ changes: edits }) })),
  }));
  editor.dispatch(setDiagnostics(editor.state, marks));
}

addEventListener("message", ({ source, data }) => {
  if (source !== frame.contentWindow || page === undefined) return;
  if (data === "ready") frame.contentWindow.postMessage(page, "*");
  else if (data?.number === page.number && sure && Array.isArray(data.uncertainty?.lines)) sure.textContent = data.uncertainty.lines.join(" ");
});

document.getElementById("tidy").addEventListener("click", async () => {
  const { doc } = editor.state;
  const laid = await ask("laid_out", doc.toString());
  if (laid && editor.state.doc === doc) editor.dispatch({ changes: laid.edits });
});

document.getElementById("link").addEventListener("click", async () => {
  history.replaceState(null, "", `#${await packed(editor.state.doc.toString())}`);
  await navigator.clipboard?.writeText(location.href).catch(() => undefined);
  state.textContent = "Link copied";
});

const list = document.getElementById("examples");
for (const name of Object.keys(EXAMPLES)) list.append(new Option(name));
list.addEventListener("change", () => write(EXAMPLES[list.value]));

async function begin() {
  if (location.hash.length < 2) return;
  try {
    write(await unpacked(location.hash.slice(1)));
  } catch {
    clearTimeout(waiting);
    forget();
    ANSWERS.failed({ text: "The link does not contain a readable spec. It may have been truncated." });
  }
}
addEventListener("hashchange", begin);
show("", "");
if (location.hash.length < 2) write(EXAMPLES[list.value]);
else begin();
performance.mark("text");
