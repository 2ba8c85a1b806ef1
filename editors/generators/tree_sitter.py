"""The tree-sitter grammar, translated from `grammar/qps.lark`: the same rules, the same nodes.

Where lark leaves a node out (`?rule` with one child, `_rule`), so does this; `-> name` names a
node here, too. Tokens that look ahead become external ones, which `src/scanner.c` reads by the
patterns that `tree_sitter_scanner` makes of the same terminals.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from typing import Any

from lark import Token, Tree
from lark.grammar import NonTerminal, Terminal
from lark.load_grammar import load_grammar

from generators.tree_sitter_scanner import CONTINUATION, EXTERNAL, Looking, looking
from qps.grammar.keywords import declarations
from qps.grammar.parsing import patterns
from qps.grammar.table_generator import grammar_text

_TOKENS = {
    "NAME": ("identifier", r"[\p{L}_\p{Nl}][\p{L}\p{M}\p{N}_]*"),
    "NUMBER": ("digits", r"\d[\d_]*(\.\d[\d_]*)?([eE][+-]?\d+)?"),
    "STRING": ("string", r'"[^"\n]*"'),
    "DOC": ("doc_string", r'"""([^"]|"[^"]|""[^"])*"""'),
    "SIGN": ("sign_of_unit", r"[%$]"),
    "TIME": ("time_of_day", r"\d{1,2}:\d{2}"),
    "DATE": ("month_or_day", r"\d{4}-\d{2}(-\d{2})?"),
    "COMPARE": ("comparator", r"<=|>=|==|!=|<|>"),
}
"""Terminals that are nodes: their names, and what tree-sitter reads them by."""

_NAMING = frozenset([*declarations(), "node", "link"])
"""Words behind which something gets its name."""

_JOINED = {"_ONE_OF": ("_ONE_OF", "of"), "_ONE_OF_STEPS": ("_ONE_OF_STEPS", "of")}


class _Translation:
    """The grammar while it is translated: `rules` are JavaScript by name."""

    def __init__(self) -> None:
        grammar, _ = load_grammar(grammar_text(), "qps.lark", [], global_keep_all_tokens=False)
        self.options = {str(name): options for name, _, _, options in grammar.rule_defs}
        self.trees = {str(name): tree for name, _, tree, _ in grammar.rule_defs}
        self.looking: dict[str, tuple[Looking, ...]] = looking()
        self.named = Counter(
            str(alias.children[1].name)
            for tree in self.trees.values()
            for alias in tree.find_data("alias")
        )
        self.rules: dict[str, str] = {}

    def translated(self) -> dict[str, str]:
        for name, tree in self.trees.items():
            self._rule(name, tree)
        for name, pattern in _TOKENS.values():
            self.rules[name] = f"token(/{pattern.replace('/', chr(92) + '/')}/u)"
        self.rules["comment"] = "token(/#[^\\n]*/)"
        return self.rules

    def _symbol(self, name: str) -> str:
        """Return the symbol that stands for a rule where it is used."""
        if name == "start":
            return "source_file"
        return f"_any_{name}" if self._has_choices(name) else name

    def _has_choices(self, name: str) -> bool:
        is_passed_on = self.options[name].expand1
        return not name.startswith("_") and (
            is_passed_on or any(True for _ in self.trees[name].find_data("alias"))
        )

    def _rule(self, name: str, tree: Tree[Any]) -> None:
        if not self._has_choices(name):
            self.rules[self._symbol(name)] = self._expansions(tree)
            return
        choices: list[str] = []
        own: list[str] = []
        for alternative in tree.children:
            if alternative.data == "alias":
                choices.append(self._named(name, alternative))
                continue
            passed, rest = self._passed_on(name, alternative)
            choices += passed
            own += rest
        if own:
            self.rules[name] = _one_of(own)
            choices.append(f"$.{name}")
        self.rules[f"_any_{name}"] = _one_of(choices)

    def _named(self, name: str, alternative: Tree[Any]) -> str:
        """Return the node of an alternative that has a name of its own."""
        expansion, given = alternative.children
        shown = str(given.name)
        text = self._expansion(expansion)
        if self.named[shown] == 1 and shown not in self.trees:
            self.rules[shown] = text
            return f"$.{shown}"
        hidden = f"_{name}_{shown}"
        while hidden in self.rules:
            hidden += "_"
        self.rules[hidden] = text
        return f"alias($.{hidden}, $.{shown})"

    def _passed_on(self, name: str, expansion: Tree[Any]) -> tuple[list[str], list[str]]:
        """Return what an alternative is without a node of its own, and what it is with one."""
        parts = expansion.children
        if not self.options[name].expand1:
            return [], [self._expansion(expansion)]
        first = self._part(parts[0], None)
        if len(parts) == 1:
            return [first], []
        others = parts[1:]
        if [(part.data, str(part.children[-1])) for part in others] == [("expr", "*")]:
            rest = f"repeat1({self._part(others[0].children[0], None)})"
            return [first], [f"seq({first}, {rest})"]
        return [], [self._expansion(expansion)]

    def _expansions(self, tree: Tree[Any], before: str | None = None) -> str:
        return _one_of([self._part(child, before) for child in tree.children])

    def _expansion(self, tree: Tree[Any], before: str | None = None) -> str:
        parts = []
        for child in tree.children:
            parts.append(self._part(child, before))
            before = _literal(child)
        return parts[0] if len(parts) == 1 else f"seq({', '.join(parts)})"

    def _part(self, part: Tree[Any], before: str | None) -> str:
        """Return a part of an expansion; `before` is the word that stands before it."""
        match part.data:
            case "expansions":
                return self._expansions(part, before)
            case "expansion":
                return self._expansion(part, before)
            case "maybe":
                return f"optional({self._part(part.children[0], before)})"
            case "expr":
                inner, operator = part.children[0], str(part.children[1])
                kind = {"*": "repeat", "+": "repeat1", "?": "optional"}[operator]
                return f"{kind}({self._part(inner, before)})"
            case "value":
                return self._value(part.children[0], before)
        raise AssertionError(part)

    def _value(self, value: object, before: str | None) -> str:
        if isinstance(value, NonTerminal):
            return f"$.{self._symbol(str(value.name))}"
        if isinstance(value, Terminal):
            return self._terminal(str(value.name), before)
        assert isinstance(value, Tree)
        return json.dumps(str(value.children[0]).strip('"'))

    def _terminal(self, name: str, before: str | None) -> str:
        if name in _TOKENS:
            token = f"$.{_TOKENS[name][0]}"
            return f"field(NAME, {token})" if name == "NAME" and before in _NAMING else token
        if name == "_SEP":
            return "$._end_of_statement"
        if name == "TOLD":
            return "seq($._told_begin, $._told_rest)"
        if name == "_PLUS_MINUS":
            return 'alias($._plus_minus, "+-")'
        if name in self.looking:
            words = [
                f"alias($.{EXTERNAL}{one.word}{one.number}, {json.dumps(one.word)})"
                for one in self.looking[name]
            ]
            token = _one_of(words)
            return f"seq({token}, {json.dumps(_JOINED[name][1])})" if name in _JOINED else token
        plain = patterns()[name].replace(r"\b", "")
        plain = re.sub(r"\(\?[!=].*", "", plain)
        listed = plain.removeprefix("(").removesuffix(")").split("|")
        words = [one for word in listed for one in _with_and_without(word)]
        return _one_of([json.dumps(word.replace("\\", "")) for word in words])


def _with_and_without(word: str) -> list[str]:
    return [word[:-1], word[:-2]] if word.endswith("?") else [word]


def _literal(part: Tree[Any]) -> str | None:
    """Return the word that a part is."""
    if part.data != "value":
        return None
    value = part.children[0]
    if isinstance(value, Tree) and isinstance(value.children[0], Token):
        return str(value.children[0]).strip('"')
    return None


def _one_of(choices: list[str]) -> str:
    unique = list(dict.fromkeys(choices))
    return unique[0] if len(unique) == 1 else f"choice({', '.join(unique)})"


@cache
def rules() -> dict[str, str]:
    """Return the rules of the grammar by name, as JavaScript."""
    return _Translation().translated()


def grammar_js() -> str:
    """Return `grammar.js`."""
    translated = dict(rules())
    externals = [
        "_end_of_statement",
        CONTINUATION,
        "_told_begin",
        "_told_rest",
        "_plus_minus",
        *(f"{EXTERNAL}{o.word}{o.number}" for many in looking().values() for o in many),
    ]
    first = {"source_file": translated.pop("source_file"), **translated}
    listed = "\n".join(f"    {name}: ($) => {text}," for name, text in first.items())
    outside = ", ".join(f"$.{name}" for name in externals)
    return f"""\
// Made by `python editors/generators` of grammar/qps.lark: change that instead.
/// <reference types="tree-sitter-cli/dsl" />

const NAME = "name";

export default grammar({{
  name: "qps",
  word: ($) => $.identifier,
  extras: ($) => [/[ \\t\\f\\r;\\n]/, $.comment, $.{CONTINUATION}],
  externals: ($) => [{outside}],
  rules: {{
{listed}
  }},
}});
"""
