// What an editor asks while one writes: what a name is, what may stand here, how the text is laid out.
import { hoverTooltip } from "@codemirror/view";

const ICONS = { class: "class", interface: "interface", method: "method", event: "type", property: "property", enum: "enum",
  function: "function", constant: "constant", unit: "constant", keyword: "keyword", typeparameter: "type", module: "namespace" };
const LIKELY = 99; // the most that CodeMirror takes as a boost

// Texts of specs come from strangers: they become text in the page, whatever they look like.
const SHOWN = /\*\*((?:\\.|[^*])+)\*\*|`([^`]+)`|\\(.)|([^*`\\]+|.)/gs;

function inline(text, parent) {
  for (const [, bold, code, escaped, plain] of text.matchAll(SHOWN)) {
    if (plain ?? escaped) {
      parent.append(plain ?? escaped);
      continue;
    }
    const part = parent.appendChild(document.createElement(bold ? "b" : "code"));
    part.textContent = (bold ?? code).replaceAll(/\\(.)/g, "$1");
  }
}

export function shown(markdown) {
  const box = document.createElement("div");
  box.className = "told-of";
  markdown.split(/```(?:qps)?\n?/).forEach((part, number) => {
    if (number % 2) {
      box.appendChild(document.createElement("pre")).textContent = part.trimEnd();
      return;
    }
    for (const paragraph of part.split(/\n{2,}/).filter((one) => one.trim())) {
      const made = box.appendChild(document.createElement("p"));
      inline(paragraph.trim().replaceAll(/^- /gm, "· "), made);
    }
  });
  return box;
}

const place = (doc, at) => {
  const line = doc.lineAt(at);
  return [line.number - 1, at - line.from];
};

export const hovers = (ask) =>
  hoverTooltip(async (view, at) => {
    const { doc } = view.state;
    const hovered = await ask("hovered", doc.toString(), ...place(doc, at));
    if (!hovered?.text || view.state.doc !== doc) return null;
    return { pos: hovered.at.from, end: hovered.at.to, above: true, create: () => ({ dom: shown(hovered.text) }) };
  });

// Until Python is there, all words of the language are offered.
export const completions = (ask, words) => async (context) => {
  const { doc } = context.state;
  const begun = context.matchBefore(/[\p{L}_][\w.]*$/u);
  if (!context.explicit && !begun) return null;
  const completed = await ask("completed", doc.toString(), ...place(doc, context.pos));
  if (context.aborted) return null;
  if (!completed) return { from: begun?.from ?? context.pos, options: words.map((label) => ({ label, type: "keyword" })) };
  if (!completed.items.length) return null;
  const options = completed.items.map(({ label, detail, kind }, number) => ({
    label,
    detail: detail ?? undefined,
    type: ICONS[kind],
    boost: Math.max(-LIKELY, LIKELY - number),
  }));
  return { from: completed.at.from, options, validFor: /^\w*$/ };
};
