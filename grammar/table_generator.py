"""Generate the parser tables: `python -m qps.grammar.table_generator`, after `qps.lark` changes.

lark compiles the grammar; what it makes of it is written to `tables.json`, which is all that a run
needs. Only whoever changes the grammar needs lark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import lark
import lark.grammar
from lark.lexer import PatternRE, PatternStr, TerminalDef, Token
from lark.parse_tree_builder import maybe_create_child_filter
from lark.parsers.lalr_analysis import Shift
from msgspec.json import encode

from qps.grammar.parsing import SEPARATOR, GrammarRule, Statements, Tables

_WORDS = re.compile(r"\(?([a-z_]+(?:\|[a-z_]+)*)\)?\\b")


def grammar_text() -> str:
    """Return the text of `qps.lark`."""
    return files("qps.grammar").joinpath("qps.lark").read_text(encoding="utf-8")


def build_parser(*, strict: bool = False) -> lark.Lark:
    """Return lark's parser; `strict` refuses every conflict that lark would settle silently."""
    return lark.Lark(
        grammar_text(),
        parser="lalr",
        lexer="contextual",
        start=["start", "change"],
        propagate_positions=True,
        maybe_placeholders=True,
        postlex=_StatementEnds(),
        edit_terminals=_whole_words,
        strict=strict,
    )


def _whole_words(terminal: TerminalDef) -> None:
    """Make every keyword match whole words only: `componentfoo` is a name, not `component foo`."""
    if isinstance(terminal.pattern, PatternStr) and terminal.pattern.value[0].isalpha():
        terminal.pattern = PatternRE(rf"{terminal.pattern.value}\b")
        terminal.priority = 1


class _StatementEnds:
    """Drop the ends of lines that end no statement, as `parse` does."""

    always_accept = (SEPARATOR,)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        statements = Statements()
        return (token for token in stream if not statements.skip(token.type))


def tables() -> Tables:
    """Return what lark makes of the grammar, the same whenever it is asked."""
    parser = build_parser()
    # lark publishes neither its table nor how it makes trees; the test of what both parse tells.
    table = parser.parser.parser._parse_table  # noqa: SLF001
    terminals = sorted(
        parser.terminals,
        key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
    )
    patterns = {terminal.name: terminal.pattern.to_regexp() for terminal in terminals}
    rules = sorted(parser.rules, key=lambda rule: (rule.origin.name, rule.order, str(rule)))
    numbers = {rule: number for number, rule in enumerate(rules)}
    order = _in_order(table.states, [at for _, at in sorted(table.start_states.items())])
    return Tables(
        patterns=patterns,
        words=_words(patterns),
        ignored=tuple(sorted(parser.ignore_tokens)),
        starts={
            name: (order[at], order[table.end_states[name]])
            for name, at in sorted(table.start_states.items())
        },
        rules=[_rule(rule) for rule in rules],
        states=[
            {
                symbol: order[arg] if action is Shift else -1 - numbers[arg]
                for symbol, (action, arg) in sorted(table.states[state].items(), key=_symbol)
            }
            for state in order
        ],
    )


def tables_text() -> str:
    """Return the text of `tables.json`, a line for each state."""
    found = encode(tables()).decode()
    return re.sub(r"(?<=[}\]]),(?=[{\"\[])", ",\n", found) + "\n"


def _symbol(entry: tuple[str, Any]) -> str:
    return entry[0]


def _words(patterns: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the words that terminals match which match nothing else."""
    words: dict[str, tuple[str, ...]] = {}
    for name, pattern in patterns.items():
        listed = _WORDS.fullmatch(pattern)
        for word in listed[1].split("|") if listed else ():
            words[word] = (*words.get(word, ()), name)
    return words


def _in_order(states: Mapping[int, Mapping[str, Any]], first: Iterable[int]) -> dict[int, int]:
    """Return new numbers of lark's states, which it numbers otherwise each time."""
    order: dict[int, int] = {}
    waiting = list(first)
    for state in waiting:
        if state not in order:
            order[state] = len(order)
            waiting += [
                arg
                for kind in sorted(states[state])
                for action, arg in [states[state][kind]]
                if action is Shift
            ]
    return order


def _rule(rule: lark.grammar.Rule) -> GrammarRule:
    """Return how lark makes trees of a rule."""
    options = rule.options
    empty = list(options.empty_indices)
    chosen = maybe_create_child_filter(
        rule.expansion, options.keep_all_tokens, ambiguous=False, _empty_indices=empty
    )
    children, missing = (*chosen.args, 0)[:2] if chosen else (None, 0)
    return GrammarRule(
        origin=str(rule.origin.name),
        name=str(rule.alias or rule.origin.name),
        length=len(rule.expansion),
        children=children and [(*each, 0)[:3] for each in children],
        missing=missing,
        is_passed_on=bool(options.expand1 and not rule.alias),
    )


if __name__ == "__main__":
    Path(__file__).with_name("tables.json").write_text(tables_text(), encoding="utf-8")
