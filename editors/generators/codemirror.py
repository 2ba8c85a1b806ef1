"""A mode for CodeMirror 6, for a page in which one writes a spec."""

from __future__ import annotations

import json
import re

from msgspec.structs import asdict

from qps.highlighting import TokenKind, rules, vocabulary

TAGS = {
    TokenKind.COMMENT: "lineComment",
    TokenKind.DOC: "docString",
    TokenKind.STRING: "string",
    TokenKind.NUMBER: "number",
    TokenKind.UNIT: "unit",
    TokenKind.DECLARATION: "definitionKeyword",
    TokenKind.KEYWORD: "keyword",
    TokenKind.CONSTANT: "atom",
    TokenKind.DEFINITION: "className",
    TokenKind.BUILT_IN: "standardName",
    TokenKind.FUNCTION: "macroName",
    TokenKind.MEASURE: "propertyName",
    TokenKind.NAME: "variableName",
    TokenKind.OPERATOR: "operator",
    TokenKind.PUNCTUATION: "punctuation",
    TokenKind.SPACE: None,
}
"""Names of tags of @lezer/highlight, which every theme of CodeMirror knows."""

_TEXT = """\
// Made by `python editors/generators` of the grammar: change qps/highlighting.py instead.
// A mode for CodeMirror 6: `StreamLanguage.define(qps)`; `vocabulary` is for completion.

export const vocabulary = {vocabulary};

// Each pattern with what its groups are, or all of it; the first that matches at a place counts.
const RULES = {rules}.map(([pattern, ...tags]) => [new RegExp(pattern, "yu"), tags]);
const DOC = '\"\"\"';

const inDoc = (stream, state) => {{
  const end = stream.string.indexOf(DOC, stream.pos);
  stream.pos = end < 0 ? stream.string.length : end + DOC.length;
  state.doc = end < 0;
  return "docString";
}};

const token = (stream, state) => {{
  if (state.ahead.length) {{
    const [end, tag] = state.ahead.shift();
    stream.pos = end;
    return tag;
  }}
  if (state.doc) return inDoc(stream, state);
  if (stream.string.startsWith(DOC, stream.pos)) {{
    stream.pos += DOC.length;
    return inDoc(stream, state);
  }}
  for (const [pattern, tags] of RULES) {{
    pattern.lastIndex = stream.pos;
    const match = pattern.exec(stream.string);
    if (!match || !match[0]) continue;
    if (match.length === 1) {{
      stream.pos += match[0].length;
      return tags[0];
    }}
    let end = stream.pos;
    const parts = [];
    match.slice(1).forEach((text, at) => {{
      end += text.length;
      if (text) parts.push([end, tags[at]]);
    }});
    state.ahead = parts.slice(1);
    stream.pos = parts[0][0];
    return parts[0][1];
  }}
  stream.next();
  return null;
}};

export const qps = {{
  name: "qps",
  startState: () => ({{ doc: false, ahead: [] }}),
  copyState: ({{ doc, ahead }}) => ({{ doc, ahead: [...ahead] }}),
  token,
  languageData: {{
    commentTokens: {{ line: "#" }},
    closeBrackets: {{ brackets: ["(", "[", "{{", '"'] }},
    autocomplete: Object.values(vocabulary).flat(),
  }},
}};
"""


_NEEDS_ESCAPE = frozenset("^$\\.*+?()[]{}|/-wsdtnb")


def _of_javascript(pattern: str) -> str:
    """Return a pattern that takes letters of every script in JavaScript, too."""
    made, is_inside = [], False
    for part in re.findall(r"\[\^\\W\\d\]|\\.|.", pattern):
        if part == r"[^\W\d]":
            made.append(r"[\p{L}_]")
        elif part == r"\w":
            made.append(r"\p{L}\p{N}_" if is_inside else r"[\p{L}\p{N}_]")
        elif part[0] == "\\" and part[1] not in _NEEDS_ESCAPE:
            made.append(part[1])  # what needs no `\\` may have none
        elif part == r"\-":
            made.append(part if is_inside else "-")
        else:
            is_inside = part != "]" if is_inside else part == "["
            made.append(part)
    return "".join(made)


def mode() -> str:
    """Return `qps.js`."""
    listed = [[_of_javascript(r.pattern), *(TAGS[kind] for kind in r.kinds)] for r in rules()]
    lines = ",\n".join(f"  {json.dumps(one, ensure_ascii=False)}" for one in listed)
    words = json.dumps(asdict(vocabulary()), ensure_ascii=False, indent=1)
    return _TEXT.format(vocabulary=words, rules=f"[\n{lines},\n]")
