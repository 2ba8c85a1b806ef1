"""How a text of QPS is colored where nothing reads it: the rules of all highlighters.

Pygments reads them as they are (`qps.pygments_lexer`); `python editors/generators` makes VS Code's
grammar and CodeMirror's mode of them. Words come from the grammar, units and functions from what
the compiler knows, so that nobody keeps lists. Rules see a line at a time: most words of QPS are
free to be names, too, and a word counts as one of the language where it stands as such; on the
specs of the repository this is what the parser says of 99 of 100 (`tests/test_highlighting.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from typing import TypeAlias

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.declarations import keyword
from qps.compiler.check.values.check_operations import FUNCTIONS
from qps.compiler.ir.measure_names import CURRENT
from qps.compiler.quantities import units
from qps.compiler.syntax import ast
from qps.grammar.keywords import declarations, keywords
from qps.grammar.words import CHOICES, NO_UNITS, RESERVED, TOKEN_CHOICES


class TokenKind(StrEnum):
    """What a stretch of a text is."""

    COMMENT = "comment"
    DOC = "doc"
    STRING = "string"
    NUMBER = "number"
    UNIT = "unit"
    DECLARATION = "declaration"
    KEYWORD = "keyword"
    CONSTANT = "constant"
    DEFINITION = "definition"
    BUILT_IN = "built-in"
    FUNCTION = "function"
    MEASURE = "measure"
    NAME = "name"
    OPERATOR = "operator"
    PUNCTUATION = "punctuation"
    SPACE = "space"


class HighlightRule(Struct, frozen=True):
    """A pattern and what its groups are; one kind without a group stands for all of it."""

    pattern: str
    kinds: tuple[TokenKind, ...]


DOC_MARK = '"""'
"""What a doc string begins and ends with: the one thing that goes over several lines."""

_NAME = r"[^\W\d]\w*"
_NUMBER = r"\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+(?!\w))?(?![\d_]|[eE][+-]?\d)"
_BEFORE = r"(?<![\w.])"
_OPERAND = r"(?<![-*+/^<>=] )"
"""Behind an operator a word is a name."""

_BEHIND_NUMBERS = frozenset(
    ["configuration", "configurations", "values", "log", "weight", "room", "speeds", "simulated"]
)
"""Words that may follow a number and are no unit of it, beside those of the grammar's list."""


_ENDING = frozenset(
    [
        "all", "descending", "duplex", "load", "merge", "model", "others", "preemptive", "rating",
        "shared", "switched", "users", "values",
    ]
)  # fmt: skip
"""Free words behind which a statement may end; behind the others something follows."""


class Vocabulary(Struct, frozen=True, kw_only=True):
    """The words of the language by what they are for, each in the order of the alphabet."""

    declarations: tuple[str, ...]
    keywords: tuple[str, ...]
    constants: tuple[str, ...]
    units: tuple[str, ...]
    functions: tuple[str, ...]
    measures: tuple[str, ...]


@cache
def vocabulary() -> Vocabulary:
    """Return the words of the language.

    >>> "machine" in vocabulary().declarations, "kbit" in vocabulary().units
    (True, True)
    """
    words = keywords()
    cases = {*CHOICES, *TOKEN_CHOICES["CASE"]}
    named = {one.value for one in (*ir.Discipline, *ir.Metric)} - words - {"formula", "none"}
    return Vocabulary(
        declarations=tuple(sorted(declarations())),
        keywords=tuple(sorted(words - cases)),
        constants=tuple(sorted(cases | named)),
        units=tuple(sorted(set(units.BUILT_IN) - {"%", "$"})),
        functions=tuple(sorted(FUNCTIONS)),
        measures=tuple(sorted({*CURRENT.values(), *(one.value for one in ir.MeasureKind)})),
    )


_Rules: TypeAlias = tuple[HighlightRule, ...]


@cache
def rules() -> _Rules:
    """Return the rules, of which the first that matches at a place counts."""
    known = vocabulary()
    return (
        *_literal_rules(),
        *_declaration_rules(known),
        *_member_rules(known),
        *_statement_rules(known),
        *_remaining_rules(),
    )


def _literal_rules() -> _Rules:
    """Return the rules of comments, texts and numbers with their units."""
    no_unit = RESERVED | NO_UNITS | _BEHIND_NUMBERS
    return (
        HighlightRule(r"#[^\n]*", (TokenKind.COMMENT,)),
        HighlightRule(r'"[^"\n]*"', (TokenKind.STRING,)),
        HighlightRule(
            rf"({_NUMBER})([ \t]*)(?!{_any(no_unit)})({_NAME})(?![\w(])",
            (TokenKind.NUMBER, TokenKind.SPACE, TokenKind.UNIT),
        ),
        HighlightRule(
            rf"({_NUMBER})([ \t]*)([%$])", (TokenKind.NUMBER, TokenKind.SPACE, TokenKind.UNIT)
        ),
        HighlightRule(_NUMBER, (TokenKind.NUMBER,)),
    )


def _declaration_rules(known: Vocabulary) -> _Rules:
    """Return the rules of what begins a declaration, and of the name that it defines."""
    named = {keyword(kind) for kind in ast.named_kinds()} | {"edition"}
    with_name = [word for word in known.declarations if word in named]
    start = r"(^|[{;])([ \t]*)"
    return (
        HighlightRule(
            rf"^([ \t]*)({_words(with_name)})([ \t]+)(?!in[ \t]*[\[\d])({_NAME})(?![\w.])",
            (TokenKind.SPACE, TokenKind.DECLARATION, TokenKind.SPACE, TokenKind.DEFINITION),
        ),
        HighlightRule(
            rf'^([ \t]*)({_words(known.declarations)})(?!\w)(?=[ \t]*["{{]|[ \t]+{_NAME}|$)',
            (TokenKind.SPACE, TokenKind.DECLARATION),
        ),
        HighlightRule(
            rf"{start}(node|link)([ \t]+)({_NAME})(?=[^\n;]*=)",
            (
                TokenKind.PUNCTUATION,
                TokenKind.SPACE,
                TokenKind.KEYWORD,
                TokenKind.SPACE,
                TokenKind.DEFINITION,
            ),
        ),
    )


def _member_rules(known: Vocabulary) -> _Rules:
    """Return the rules of ranges, measures, members, functions and units of a quotient."""
    return (
        HighlightRule(r"\.\.", (TokenKind.OPERATOR,)),
        HighlightRule(
            rf"(\.)({_words(known.measures)})(?!\w)", (TokenKind.PUNCTUATION, TokenKind.MEASURE)
        ),
        HighlightRule(
            r"(\.)(p\d{1,2}(?:_\d{1,6})?)(?!\w)", (TokenKind.PUNCTUATION, TokenKind.MEASURE)
        ),
        HighlightRule(rf"(\.)({_NAME})", (TokenKind.PUNCTUATION, TokenKind.NAME)),
        HighlightRule(rf"({_BEFORE}{_words(known.functions)})(?=\()", (TokenKind.BUILT_IN,)),
        HighlightRule(rf"({_BEFORE}{_words(known.measures)})(?=\()", (TokenKind.MEASURE,)),
        HighlightRule(
            rf"(/)([ \t]*)({_words(known.units)})(?![\w.(])",
            (TokenKind.OPERATOR, TokenKind.SPACE, TokenKind.UNIT),
        ),
    )


def _statement_rules(known: Vocabulary) -> _Rules:
    """Return the rules of words that count as the language's where they stand as such."""
    free = set(known.keywords) - RESERVED
    goes_on = r"(?!\()(?![ \t]*(?:[-.=*+/^)\]<>!~]|in[ \t]*\[))"
    says_more = rf"{goes_on}(?![ \t]*(?:[,;}}#]|if\b|$))"
    return (
        HighlightRule(rf"{_BEFORE}quality(?![\w.])", (TokenKind.MEASURE,)),
        HighlightRule(rf"{_BEFORE}{_words(RESERVED)}(?![\w.])", (TokenKind.KEYWORD,)),
        HighlightRule(
            rf"{_BEFORE}(queueing)([ \t]+)({_NAME})(?![\w.])",
            (TokenKind.KEYWORD, TokenKind.SPACE, TokenKind.CONSTANT),
        ),
        HighlightRule(
            rf"{_BEFORE}{_OPERAND}{_words(known.constants)}(?![\w.]){goes_on}",
            (TokenKind.CONSTANT,),
        ),
        HighlightRule(
            rf"{_BEFORE}{_OPERAND}{_words(_ENDING)}(?![\w.]){goes_on}", (TokenKind.KEYWORD,)
        ),
        HighlightRule(
            rf"{_BEFORE}{_OPERAND}{_words(free - _ENDING)}(?![\w.]){says_more}",
            (TokenKind.KEYWORD,),
        ),
    )


def _remaining_rules() -> _Rules:
    """Return the rules of names, signs and spaces."""
    return (
        HighlightRule(rf"{_NAME}(?=\()", (TokenKind.FUNCTION,)),
        HighlightRule(_NAME, (TokenKind.NAME,)),
        HighlightRule(r"\+-|±|->|[<>=!]=|[-+*/^<>=~]", (TokenKind.OPERATOR,)),
        HighlightRule(r"[%$]", (TokenKind.UNIT,)),
        HighlightRule(r"[(){}\[\],;:.]", (TokenKind.PUNCTUATION,)),
        HighlightRule(r"[ \t]+", (TokenKind.SPACE,)),
    )


def _words(words: Iterable[str]) -> str:
    """Return a pattern of any of some words, the longer before the shorter."""
    return f"(?:{'|'.join(map(re.escape, sorted(words, key=lambda one: (-len(one), one))))})"


def _any(words: Iterable[str]) -> str:
    return rf"{_words(words)}(?!\w)"
