"""Which names can stand at a place: told by the words before it, as the grammar reads them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from qps.compiler.quantities.dimension import DATA_RATE, DIMENSIONLESS, TIME, Dimension
from qps.compiler.syntax import ast
from qps.grammar.parsing import SEPARATOR, Token

VALUES: tuple[type, ...] = (ast.Param, ast.Let, ast.Measure, ast.Users, ast.Func)
_PLACES: tuple[type, ...] = (ast.Node, ast.Link, ast.Stream)
SETTABLE: tuple[type, ...] = (ast.Param, ast.Option, ast.Users, ast.Node, ast.Link, ast.Group)
_OF_ANSWERS = frozenset(
    ["REQUIRE", "EXPECT", "MEASURE", "FIGURE", "MATRIX", "OBSERVE", "QUALITY", "MODE"]
)
"""Declarations that name loads and latencies: what a place or a stream comes to."""

_BEHIND: dict[str, tuple[type, ...]] = {
    "AT": (ast.Node,),
    "OVER": (ast.Link,),
    "BETWEEN": (ast.Node,),
    "_RUN": (ast.Component,),
    "_CALL": (ast.Node,),
    "ON": (ast.Machine,),
    "EACH": (ast.Node, ast.Group, ast.Kinds, ast.Users),
    "BY": (ast.Kinds, ast.Option),
    "TO": (ast.Node,),
}
"""What stands right behind a word."""


class Wanted(Struct, frozen=True, kw_only=True):
    """Which kinds of names are wanted: units, `modules` of the library, things to set, or values.

    With `of_answers` also what only an answer tells. A value is `compared` with a name that was
    written, or is to be of a `dimension`.
    """

    kinds: tuple[type, ...] = ()
    units: bool = False
    modules: bool = False
    functions: bool = False
    of_answers: bool = False
    compared: str = ""
    dimension: Dimension | None = None


def wanted(tokens: Sequence[Token], text: str) -> Wanted:
    """Return what is wanted behind the tokens of a declaration."""
    if not tokens:
        return Wanted()
    last, head = tokens[-1].type, _head(tokens)
    declaration = tokens[0].type
    if last == "USE" or declaration == "USE":
        return Wanted(modules=True)
    if last == "NUMBER" or (last == "SLASH" and _is_of_unit(tokens)):
        return Wanted(units=True)
    if head == "NODE" and last == "EQUAL":
        return Wanted(kinds=(ast.Machine,))
    if head == "LINK":
        return Wanted(kinds=(ast.Network,) if last == "EQUAL" else (ast.Node,))
    if declaration in ("MACHINE", "NETWORK", "COMPONENT") and last == "EQUAL":
        return Wanted(kinds=(_DECLARED[declaration],))
    if last == "COMMA" and head == "OVER":
        return Wanted(kinds=(ast.Link,))
    if _is_start(tokens) and _block(tokens) in ("AT", "_CALL"):
        return Wanted(kinds=(ast.Component,))
    if _is_change(tokens):
        return Wanted(kinds=SETTABLE)
    if last in _BEHIND and not (last == "BETWEEN" and head != "LINK"):
        return Wanted(kinds=_BEHIND[last])
    of_answers = declaration in _OF_ANSWERS
    return Wanted(
        kinds=(*VALUES, ast.Formal, *(_PLACES if of_answers else ())),
        functions=True,
        of_answers=of_answers,
        compared=_compared(tokens, text),
        dimension=_OF_WORDS.get(tokens[-1].text),
    )


_OF_WORDS = {
    "rate": DATA_RATE,
    "propagation": TIME,
    "think": TIME,
    "playout": TIME,
    "delay": TIME,
    "loss": DIMENSIONLESS,
}
"""Of which dimension what stands behind a word is."""


_DECLARED = {"MACHINE": ast.Machine, "NETWORK": ast.Network, "COMPONENT": ast.Component}


def _is_start(tokens: Sequence[Token]) -> bool:
    return tokens[-1].type in (SEPARATOR, "LBRACE")


def _head(tokens: Sequence[Token]) -> str:
    """Return the word that the statement at hand starts with."""
    head = ""
    for token in reversed(tokens):
        if token.type in (SEPARATOR, "LBRACE", "RBRACE"):
            break
        head = token.type
    return head


def _block(tokens: Sequence[Token]) -> str:
    """Return the word that the innermost open block starts with."""
    depth = 0
    for index in range(len(tokens) - 1, -1, -1):
        kind = tokens[index].type
        depth += (kind == "RBRACE") - (kind == "LBRACE")
        if depth < 0:
            return _head(tokens[:index])
    return ""


def _is_change(tokens: Sequence[Token]) -> bool:
    """Return whether a change begins here: in a scenario, or behind `with`."""
    last = tokens[-1].type
    if tokens[0].type == "SCENARIO" and _is_start(tokens):
        return True
    return last == "WITH" and tokens[0].type in ("EXPECT", "FIGURE", "USE", "OBSERVE", "MATRIX")


def _is_of_unit(tokens: Sequence[Token]) -> bool:
    """Return whether a `/` stands behind a number with its unit: `80 kB/`."""
    kinds = [token.type for token in tokens[-3:]]
    return kinds[:2] == ["NUMBER", "NAME"]


def _compared(tokens: Sequence[Token], text: str) -> str:
    """Return the name on the other side of a comparison, or what a value is set to be of."""
    is_set = tokens[-1].type == "EQUAL" and _head(tokens) in ("NAME", "EXPECT", "FIGURE", "LINE")
    if not is_set and tokens[-1].type not in ("COMPARE", "TILDE"):
        return ""
    first = last = len(tokens) - 1
    while first and tokens[first - 1].type in ("NAME", "DOT", "LOAD"):
        first -= 1
    return text[tokens[first].start : tokens[last].start].strip() if first < last else ""
