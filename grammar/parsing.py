"""The parser at work: texts to trees, by the tables that lark makes of `qps.lark`.

lark itself is not imported: reading its tables, and as many regular expressions as the parser has
states, takes longer than to read a spec. What this gives is what lark gives, held by
`tests/language/test_grammar.py`: the same trees, and the same words that are told as expected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pkgutil import get_data
from typing import TypeAlias

from msgspec import Struct
from msgspec.json import decode

from qps.grammar.words import CONTINUING_TOKENS

END, SEPARATOR = "$END", "_SEP"

Piece: TypeAlias = "ParseTree | Token | None"


class Token(Struct, frozen=True, gc=False):
    """A word of a text: which terminal of the grammar it is, and where it stands."""

    type: str
    text: str
    start: int
    end: int

    def __str__(self) -> str:
        return self.text


class ParseTree(Struct, frozen=True):
    """A rule of the grammar with what was read for it; None where an optional part is missing.

    Start and end are -1 where the rule was read from nothing.
    """

    data: str
    children: list[Piece]
    start: int
    end: int


class Parsed(Struct, frozen=True):
    """A text that the grammar takes: its tree, and its tokens in order."""

    tree: ParseTree
    tokens: Sequence[Token]


class GrammarRule(Struct, frozen=True, array_like=True, kw_only=True):
    """How a tree is made of what was read for a rule.

    `origin` is what the rule belongs to, `name` that of the tree, `length` how many parts were
    read. `children` lists which of them the tree keeps, whether it keeps their parts instead, and
    how many missing ones stand before; None where it keeps all. `missing` ones stand at the end.
    Where `is_passed_on`, a part that is kept alone stands for the tree.
    """

    origin: str
    name: str
    length: int
    children: list[tuple[int, bool, int]] | None
    missing: int
    is_passed_on: bool


class Tables(Struct, frozen=True, kw_only=True):
    """What lark makes of the grammar.

    `patterns` are tried in this order; `words` are all that some terminals match; `starts` are the
    first and the last state of what can be asked for. A state tells for each symbol which state
    follows, or, less than 0, which rule is ended by it.
    """

    patterns: dict[str, str]
    words: dict[str, tuple[str, ...]]
    ignored: tuple[str, ...]
    starts: dict[str, tuple[int, int]]
    rules: list[GrammarRule]
    states: list[dict[str, int]]


class UnexpectedError(Exception):
    """Raised where the grammar cannot go on.

    `token` stands there, None where the text at `position` is no token at all; `expected` are the
    terminals that could stand there.
    """

    def __init__(self, position: int, token: Token | None, expected: frozenset[str]) -> None:
        self.position = position
        self.token = token
        self.expected = expected
        super().__init__(f"at {position}: {token}")


def parse(text: str, begin: int = 0, end: int | None = None, *, start: str = "start") -> Parsed:
    """Return what a stretch of a text says; UnexpectedError where the grammar does not take it."""
    run, ends, position = _Run(text, len(text) if end is None else end, start), Statements(), begin
    while True:
        token = run.token(position)
        position = token.end
        if not ends.skip(token.type) and run.takes(token):
            break
    tree = run.values[-1]
    assert isinstance(tree, ParseTree)
    return Parsed(tree, run.tokens)


class TextPrefix(Struct, frozen=True):
    """A text up to a place: its tokens, and the terminals that may stand there."""

    tokens: Sequence[Token]
    accepted: frozenset[str]


def begun(text: str, begin: int, end: int) -> TextPrefix:
    """Return how a text may go on at a place; nothing may where it is wrong before that.

    >>> sorted(begun("users N ", 0, 8).accepted)
    ['IN']
    """
    run, ends, position = _Run(text, end, "start"), Statements(), begin
    try:
        while (token := run.token(position)).type != END:
            position = token.end
            if not ends.skip(token.type):
                run.takes(token)
        accepted = run.accepted()
        # What ends the text ends no statement yet: only what comes behind it tells.
        if (
            re.search(r"[;\n]", text[position:end])
            and not ends.skip(SEPARATOR)
            and SEPARATOR in accepted
        ):
            run.takes(Token(SEPARATOR, "\n", end, end))
            accepted = run.accepted() | (accepted & _continuing())
    except UnexpectedError:
        return TextPrefix(run.tokens, frozenset())
    return TextPrefix(run.tokens, accepted)


@cache
def _continuing() -> frozenset[str]:
    """Return the terminals with which a line goes on from the one before."""
    words = _one_token("_CONTINUATION").pattern
    return frozenset(
        name
        for name in _tables().patterns
        if re.search(rf"[(|]{name.strip('_').lower()}[|)]", words)
    )


# -- tokens ------------------------------------------------------------------------------


class Statements:
    """Tells ends of lines that end no statement: in brackets, after an operator or a `{`."""

    def __init__(self) -> None:
        self._depth = 0
        self._previous = ""

    def skip(self, kind: str) -> bool:
        """Return whether the next token, of this kind, is to be left out."""
        if kind == SEPARATOR:
            if self._depth or not self._previous or self._previous in CONTINUING_TOKENS:
                return True
        elif kind in ("LPAR", "LSQB"):
            self._depth += 1
        elif kind in ("RPAR", "RSQB"):
            self._depth -= 1
        self._previous = kind
        return False


@cache
def _tables() -> Tables:
    """Return what `python -m qps.grammar.table_generator` wrote."""
    data = get_data("qps.grammar", "tables.json")
    assert data is not None
    return decode(data, type=Tables)


def patterns() -> Mapping[str, str]:
    """Return the regular expression of each terminal."""
    return _tables().patterns


def first_terminals() -> tuple[str, ...]:
    """Return the terminals with which a text may begin."""
    tables = _tables()
    first, _ = tables.starts["start"]
    return tuple(symbol for symbol in tables.states[first] if symbol in tables.patterns)


@cache
def _any_token() -> re.Pattern[str]:
    """Return what matches any token that is no mere word, or a name, the first in lark's order."""
    mere = {terminal for terminals in _tables().words.values() for terminal in terminals}
    listed = (
        f"(?P<{name}>{text})" for name, text in _tables().patterns.items() if name not in mere
    )
    return re.compile("|".join(listed))


@cache
def _one_token(name: str) -> re.Pattern[str]:
    """Return what matches one terminal."""
    return re.compile(_tables().patterns[name])


class _Run:
    """One text being read. The stack holds states, values, and the stretch of each value."""

    def __init__(self, text: str, end: int, start: str) -> None:
        tables = _tables()
        first, self.last = tables.starts[start]
        self.text, self.end = text, end
        self.patterns, self.words, self.ignored = tables.patterns, tables.words, tables.ignored
        self.rules, self.table = tables.rules, tables.states
        self.states = [first]
        self.values: list[Piece] = []
        self.stretches: list[tuple[int, int]] = []
        self.tokens: list[Token] = []

    def token(self, position: int) -> Token:
        """Return the next token that the grammar takes here, or the end of the text."""
        taken, match_any = self.table[self.states[-1]], _any_token().match
        while position < self.end:
            match = match_any(self.text, position, self.end)
            if match is None or match.lastgroup is None:
                raise self._unexpected(position, taken)
            kind = match.lastgroup
            if kind in self.ignored:
                position = match.end()
                continue
            if kind == "NAME" and match[0] in self.words:
                words = self.words[match[0]]
                kind = next((word for word in words if word in taken), kind)
            if kind in taken or kind == SEPARATOR:
                return Token(kind, match[0], position, match.end())
            # What is a token elsewhere may be another one here: `=` of `==`.
            narrowed = self._narrowed(position, taken)
            if narrowed is None:
                raise self._unexpected(position, taken)
            return narrowed
        return Token(END, "", position, position)

    def _narrowed(self, position: int, expected: Mapping[str, int]) -> Token | None:
        """Return the first token of those alone that the grammar takes here."""
        for kind in self.patterns:
            if kind in expected:
                match = _one_token(kind).match(self.text, position, self.end)
                if match is not None:
                    return Token(kind, match[0], position, match.end())
        return None

    def _unexpected(self, position: int, expected: Mapping[str, int]) -> UnexpectedError:
        """Return what tells that no token is here that the grammar takes."""
        allowed = frozenset(name for name in self.patterns if name in expected) | {SEPARATOR}
        match = _any_token().match(self.text, position, self.end)
        if match is not None:
            token = Token(match.lastgroup or "", match[0], position, match.end())
            return UnexpectedError(position, token, self.accepted() or allowed)
        return UnexpectedError(position, None, allowed)

    # -- trees ---------------------------------------------------------------------------

    def takes(self, token: Token) -> bool:
        """Go on by a token; return whether that was the end."""
        states, kind = self.states, token.type
        while True:
            action = self.table[states[-1]].get(kind)
            if action is None:
                expected = frozenset(filter(str.isupper, self.table[states[-1]]))
                raise UnexpectedError(token.start, token, self.accepted() or expected)
            if action >= 0:
                states.append(action)
                self.values.append(token)
                self.stretches.append((token.start, token.end))
                self.tokens.append(token)
                return False
            self._reduce(-1 - action)
            if kind == END and states[-1] == self.last:
                return True

    def _reduce(self, number: int) -> None:
        """Put what a rule is made of together."""
        rule = self.rules[number]
        length = rule.length
        values, stretches, states = self.values, self.stretches, self.states
        start = end = -1
        children: list[Piece] = []
        if length:
            children = values[-length:]
            for stretch in stretches[-length:]:
                if stretch[0] >= 0:
                    if start < 0:
                        start = stretch[0]
                    end = stretch[1]
            del values[-length:], stretches[-length:], states[-length:]
        if rule.children is not None:
            children = _selected(children, rule.children, rule.missing)
        is_alone = rule.is_passed_on and len(children) == 1
        values.append(children[0] if is_alone else ParseTree(rule.name, children, start, end))
        stretches.append((start, end))
        states.append(self.table[states[-1]][rule.origin])

    def accepted(self) -> frozenset[str]:
        """Return the terminals with which the text could go on here."""
        return frozenset(
            kind for kind in self.table[self.states[-1]] if kind.isupper() and self._accepts(kind)
        )

    def _accepts(self, kind: str) -> bool:
        """Return whether a token of a kind leads on: rules may end before it only to fail."""
        states = list(self.states)
        while True:
            action = self.table[states[-1]].get(kind)
            if action is None or action >= 0:
                return action is not None
            rule = self.rules[-1 - action]
            del states[len(states) - rule.length :]
            states.append(self.table[states[-1]][rule.origin])
            if kind == END and states[-1] == self.last:
                return True


def _selected(
    children: list[Piece], selection: Sequence[tuple[int, bool, int]], missing: int
) -> list[Piece]:
    """Return the children that a tree keeps, those of nameless rules in their place."""
    found: list[Piece] = []
    for index, is_nameless, before in selection:
        if before:
            found += [None] * before
        child = children[index]
        if is_nameless:
            assert isinstance(child, ParseTree)
            # The first of them gives its list, which grows in place: a long list is made of ever
            # longer ones, and to copy each of these would take the square of its length.
            if found:
                found += child.children
            else:
                found = child.children
        else:
            found.append(child)
    if missing:
        found += [None] * missing
    return found
