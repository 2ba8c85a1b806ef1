// The colors of the text, for light and dark; each has a contrast of 4.5 or more to what is behind it.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const WORDS = HighlightStyle.define([
  { tag: tags.keyword, color: "light-dark(#8250df, #d2a8ff)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "light-dark(#116329, #7ee787)" },
  { tag: [tags.string, tags.docString], color: "light-dark(#a40e26, #ffa198)" },
  { tag: tags.comment, color: "light-dark(#57606a, #9aa4ae)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.className, tags.definition(tags.variableName)], color: "light-dark(#0550ae, #79c0ff)" },
  { tag: [tags.standard(tags.variableName), tags.propertyName, tags.unit], color: "light-dark(#953800, #ffa657)" },
]);

const LINE = { backgroundColor: "light-dark(#0969da14, #79c0ff1a)" };

const ROOM = EditorView.theme({
  "&": { color: "CanvasText", backgroundColor: "Canvas" },
  ".cm-gutters": { color: "light-dark(#57606a, #9aa4ae)", backgroundColor: "light-dark(#f5f5f5, #1b1b1b)", borderColor: "light-dark(#ccc, #444)" },
  ".cm-activeLine": LINE,
  ".cm-activeLineGutter": LINE,
  ".cm-cursor": { borderLeftColor: "CanvasText" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "light-dark(#b6d5fb, #264f78)" },
  ".cm-tooltip": { color: "CanvasText", backgroundColor: "light-dark(#f5f5f5, #1b1b1b)", border: "1px solid light-dark(#ccc, #444)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { color: "#fff", background: "#0b57d0" },
});

export const colors = [syntaxHighlighting(WORDS), ROOM];
