"""Parse tree to syntax tree: total, every node with its span.

Most rules are built as `rules.py` says. What the grammar says in another shape is built here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.fixits import renaming_hint, single_statement_hint
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.syntax import ast
from qps.compiler.syntax.bare_cases import report_bare_cases
from qps.compiler.syntax.rules import (
    CALLED,
    CALLS,
    EXPRESSIONS,
    PASSED_ON,
    RULES,
    SyntaxRule,
    rule_by_fields,
)
from qps.compiler.syntax.tree_pieces import is_number, is_tree, is_word, token_of, tree_of
from qps.grammar.parsing import ParseTree, Piece, Token
from qps.grammar.words import RESERVED

OUR_OWN = "this model"
"""Where a claim comes from whose `source model` says no more."""

DEEPEST = 250
"""Nesting of an expression beyond which it is refused."""

DEEPEST_CALLS = 30
"""Nesting of calls beyond which they are refused."""

_WITH_UNITS = ("quantity", "group_quantity")
_LONGEST_NUMBER = 40
_LARGEST_EXPONENT = 300


class AstBuilder:
    """Builds the nodes of one source; what cannot be built is reported."""

    def __init__(self, source: Source, sink: Sink) -> None:
        self._source = source
        self._sink = sink
        self._depth = 0
        self._calls = 0
        self._is_too_deep = False
        self._shaped: Mapping[str, Callable[[ParseTree], Any]] = {
            "option": self._option,
            "column": self._column,
            "spread": self._spread,
            "matrix_claim": self._matrix_claim,
        }

    def items(self, tree: ParseTree) -> list[str | ast.Declaration]:
        """Return the doc strings and declarations of a `start` tree, in order.

        What they say of each other is not looked at: `completed` does that for a whole file.
        """
        return list(self._all(tree.children))

    def change(self, tree: ParseTree) -> ast.Change:
        """Return `name = value`."""
        change = self._built(tree)
        assert isinstance(change, ast.Change)
        return change

    # -- by the table --------------------------------------------------------------------

    def _built(self, piece: Piece, *, may_be_word: bool = False) -> Any:
        """Return what a piece says: a node, several, a word; None where nothing stands there."""
        if piece is None:
            return None
        if isinstance(piece, Token):
            return self._word(piece, may_be_word=may_be_word)
        if piece.data in EXPRESSIONS:
            return self._expression(piece)
        if piece.data in PASSED_ON:
            return self._built(piece.children[-1])
        if piece.data in CALLS:
            return self._call(piece)
        rule = RULES.get(piece.data)
        return self._build(piece) if rule is None else self._node(piece, rule)

    def _node(self, tree: ParseTree, rule: SyntaxRule) -> ast.Written:
        """Return the node of a tree by its rule."""
        fields: dict[str, Any] = {}
        for index, (field, mark) in enumerate(rule.parts):
            piece = None if mark == "..." else tree.children[index]
            if mark == "...":
                fields[field] = self._all(tree.children[index:])
            elif mark == "*":
                fields[field] = () if piece is None else self._all(tree_of(piece).children)
            elif mark == "!":
                fields[field] = piece is not None
            elif field != "_":
                fields[field] = self._built(piece, may_be_word=rule.has_words)
        if rule.items:
            fields |= self._items(tree.children[len(rule.parts) :], rule)
        return rule.node(span=self._span(tree), **fields)

    def _items(self, pieces: Iterable[Piece], rule: SyntaxRule) -> dict[str, Any]:
        """Return what pieces in any order say; what is specified twice is reported."""
        once: dict[str, Any] = {}
        several: dict[str, list[Any]] = {}
        for piece in pieces:
            if piece is None:
                continue
            kind = piece.data if isinstance(piece, ParseTree) else piece.type
            field, mark = rule.items[kind]
            if mark == "+":
                several.setdefault(field, []).extend(self._all(tree_of(piece).children))
            elif mark == "*":
                several.setdefault(field, []).append(self._built(piece))
            elif field in once:
                again = self._built(piece).span
                self._sink.report(
                    codes.MISPLACED,
                    again,
                    f"{CALLED.get(kind, f'`{kind}`')} is specified twice",
                    hint=single_statement_hint(again),
                )
            else:
                once[field] = self._built(piece)
        return once | {field: tuple(found) for field, found in several.items()}

    def _all(self, pieces: Iterable[Piece]) -> tuple[Any, ...]:
        return tuple([self._built(piece) for piece in pieces if piece is not None])

    def _call(self, tree: ParseTree) -> ast.Written:
        """Return a call, or calls made together; those beyond all reading are left out."""
        rule = RULES[tree.data]
        if self._calls == DEEPEST_CALLS:
            self._sink.report(
                codes.TOO_DEEP,
                self._span(tree),
                f"calls are nested more than {DEEPEST_CALLS} levels deep",
                hint="replace the inner calls by one component",
            )
            tree = replace(tree, children=tree.children[: len(rule.parts)])
        self._calls += 1
        try:
            return self._node(tree, rule)
        finally:
            self._calls -= 1

    # -- expressions ---------------------------------------------------------------------

    def _expression(self, tree: ParseTree) -> Any:
        while tree.data == "group" and tree.children[1] is None and is_tree(tree.children[0]):
            tree = tree_of(tree.children[0])  # parentheses alone make nothing deeper
        if self._depth == 0:
            self._is_too_deep = False
        if self._depth >= DEEPEST:
            if not self._is_too_deep:  # one expression is reported once
                self._sink.report(
                    codes.TOO_DEEP,
                    self._span(tree),
                    f"this expression is nested more than {DEEPEST} levels deep",
                    hint="split it with `let`",
                )
            self._is_too_deep = True
            return ast.Number(self._span(tree), Fraction(1))
        self._depth += 1
        try:
            return self._expression_node(tree)
        finally:
            self._depth -= 1

    def _expression_node(self, tree: ParseTree) -> Any:
        span, children = self._span(tree), tree.children
        match tree.data:
            case "number":
                return self._built(children[0])
            case "sign":
                return ast.Reference(span, ast.Name(span, (str(children[0]),)))
            case "group":
                inner = self._built(children[0])
                if children[1] is None:
                    return inner
                return ast.Changed(span, inner, self._all(tree_of(children[1]).children))
            case "group_quantity":
                # What stands in parentheses is one number: the unit multiplies all of it.
                return ast.Product(span, tuple((False, part) for part in self._all(children)))
            case "sum":
                return ast.Sum(span, self._chain(children, "MINUS"))
            case "product":
                return ast.Product(span, tuple(self._factors(children)))
            case "every":
                many, time = self._all(children)
                return ast.Every(span, ((False, many), (True, time)))
            case "comparison":
                operators = tuple(str(operator) for operator in children[1::2])
                return ast.Comparison(span, self._all(children[::2]), operators)
            case "disjunction" | "conjunction":
                word = "or" if tree.data == "disjunction" else "and"
                return ast.Junction(span, word, self._all(children))
            case data:
                return self._node(tree, RULES[data])

    def _chain(self, children: Sequence[Piece], marked: str) -> tuple[tuple[bool, ast.Expr], ...]:
        """Return operands with True where the operator before them is the marked one."""
        flags = [False, *(token_of(operator).type == marked for operator in children[1::2])]
        return tuple(zip(flags, self._all(children[::2]), strict=True))

    def _factors(self, children: Sequence[Piece]) -> Iterator[tuple[bool, ast.Expr]]:
        """Yield factors; names that divide a number's unit are units: `3 ms/call`.

        A quotient of two numbers before a unit is a number: `1/20 s` is the twentieth of one.
        """
        is_behind_unit = is_behind_number = False
        written = self._chain(children, "SLASH")
        for piece, (divides, factor) in zip(children[::2], written, strict=True):
            is_behind_unit = is_behind_unit and divides and is_word(piece)
            rule = tree_of(piece).data if is_tree(piece) else ""
            is_quotient = is_behind_number and divides and rule == "quantity"
            if is_quotient and isinstance(factor, ast.Quantity):
                yield divides, factor.number
                yield False, factor.unit
            else:
                yield divides, ast.as_unit(factor) if is_behind_unit else factor
            is_behind_unit |= rule in _WITH_UNITS
            is_behind_number = is_number(piece)

    def _number(self, token: Token) -> ast.Number:
        span, digits = self._span(token), str(token).replace("_", "")
        mantissa, _, exponent = digits.lower().partition("e")
        is_long = max(len(mantissa), len(exponent)) > _LONGEST_NUMBER
        if is_long or abs(int(exponent or 0)) > _LARGEST_EXPONENT:
            self._sink.report(
                codes.NUMBER_SIZE,
                span,
                "this number is out of range",
                hint=f"use at most {_LONGEST_NUMBER} digits and an exponent up to "
                f"{_LARGEST_EXPONENT}",
            )
            return ast.Number(span, Fraction(1))
        return ast.Number(span, Fraction(digits))

    # -- in shapes of their own ----------------------------------------------------------

    def _build(self, tree: ParseTree) -> Any:  # noqa: PLR0911 - a case a rule
        span, (first, *rest) = self._span(tree), tree.children or (None,)
        match tree.data:
            case "name":
                return ast.Name(span, tuple(str(part) for part in tree.children))
            case "told":
                return ast.Name(span, tuple(" ".join(str(first).split()).split(".")))
            case "unit_power":
                unit = self._built(first)
                if isinstance(unit, str):
                    return ast.Reference(span, ast.Name(span, (unit,)), is_unit=True)
                reference = ast.Reference(unit.span, unit, is_unit=True)
                power = self._built(rest[0])
                return reference if power is None else ast.Power(span, reference, power)
            case "exponent":
                return ast.Negative(span, self._built(rest[0])) if rest else self._built(first)
            case "own_source" | "arithmetic_source":
                text = self._built(rest[0]) or ast.Text(self._span(token_of(first)), OUR_OWN)
                kind = ast.OwnSource if tree.data == "own_source" else ast.ArithmeticSource
                return kind(text.span, text.value)
            case "included":
                return self._all(tree.children)
            case "at_load":
                return self._built(first)
            case "logarithmic":
                return self._built(rest[0], may_be_word=True)
            case "doc":
                lines = str(first)[3:-3].strip().splitlines()
                return "\n".join(line.strip() for line in lines)
            case "topology":
                return ast.Topology(span=span, items=tuple(self._topology(tree)))
            case "bare_cases":
                report_bare_cases(self._source, self._sink, tree)
                return ast.Cases(span, self._all(tree.children))
            case data:
                build = self._shaped.get(data)
                return build(tree) if build else self._node(tree, rule_by_fields(data))

    def _option(self, tree: ParseTree) -> ast.Option:
        name, *words, source = tree.children
        choices = [self._built(word, may_be_word=True) for word in words if word is not None]
        return ast.Option(
            span=self._span(tree),
            name=self._built(name),
            choices=tuple(choices),
            source=self._built(source),
        )

    def _topology(self, tree: ParseTree) -> Iterator[ast.Node | ast.Link]:
        """Yield nodes and links, each with the doc string before it."""
        doc: str | None = None
        for line in (tree_of(one) for one in tree.children if one is not None):
            if line.data == "doc":
                doc = str(self._built(line))
                continue
            yield from (replace(one, doc=doc) for one in self._placed(line))
            doc = None

    def _placed(self, line: ParseTree) -> Iterator[ast.Node | ast.Link]:
        """Yield the nodes or links of one line, which are alike but for their names."""
        *pieces, cited = line.children
        parts, source = list(self._all(pieces)), self._built(cited)
        count = next(i for i, part in enumerate(parts) if not isinstance(part, ast.Name))
        span, names = self._span(line), parts[:count]
        index = parts.pop(count) if isinstance(parts[count], ast.Index) else None
        place, *ends = parts[count:]
        if line.data == "node":
            yield from (
                ast.Node(span=span, name=name, place=place, index=index, source=source)
                for name in names
            )
            return
        everyone = ends.pop() if isinstance(ends[-1], ast.AllNodes) else None
        for name in names:
            yield ast.Link(
                span=span,
                name=name,
                place=place,
                ends=tuple(ends),
                everyone=everyone,
                source=source,
                index=index,
            )

    def _column(self, tree: ParseTree) -> ast.Column:
        heading, *rest = tree.children  # the heading is a name, or any text in quotes
        word = token_of(heading)
        text = str(word)[1:-1] if word.type == "STRING" else str(word)
        unit, target, tolerance = map(self._built, rest)
        unit = None if unit is None else ast.as_unit(unit)
        name = ast.Name(self._span(word), (text,))
        return ast.Column(
            span=self._span(tree), name=name, unit=unit, target=target, tolerance=tolerance
        )

    def _spread(self, tree: ParseTree) -> ast.Spread:
        receivers, cast = tree.children
        to = tree_of(receivers)
        parts, count = to.children, None
        if to.data == "to_some":
            count, *parts = parts
        whom, most = (*parts, None)[:2]
        is_group = isinstance(whom, ParseTree) and whom.data == "in_group"
        return ast.Spread(
            span=self._span(tree),
            kind=to.data.removeprefix("to_"),
            target=None if is_group else self._built(whom),
            cast=self._built(cast, may_be_word=True),
            group=self._built(whom) if is_group else None,
            most=self._built(most),
            count=self._built(count),
        )

    def _matrix_claim(self, tree: ParseTree) -> ast.MatrixClaim:
        quantifier, *counted, _, matrix, where, condition = tree.children
        return ast.MatrixClaim(
            span=self._span(tree),
            quantifier=str(quantifier),
            count=self._built(counted[0]) if counted else None,
            matrix=self._built(matrix, may_be_word=True),
            where=self._built(where),
            condition=self._built(condition),
        )

    # -- words ---------------------------------------------------------------------------

    def _span(self, piece: ParseTree | Token) -> Span:
        return Span(self._source, max(piece.start, 0), max(piece.end, 0))

    def _word(self, word: Token, *, may_be_word: bool) -> ast.Name | ast.Number | ast.Text | str:
        """Return what a word says; a name that is a word of the language is reported."""
        span = self._span(word)
        match word.type:
            case "NUMBER":
                return self._number(word)
            case "STRING":
                return ast.Text(span, str(word)[1:-1])
            case "NUMBER_WORD":
                return ast.Text(span, str(word))
            case "MEDIUM" | "LINKS" | "PRIORITY":
                return ast.Name(span, (str(word),))
            case "NAME":
                if word.text in RESERVED and not may_be_word:
                    self._sink.report(
                        codes.RESERVED_WORD,
                        span,
                        f"`{word}` is a reserved word and cannot be a name",
                        hint=renaming_hint(span),
                    )
                return ast.Name(span, (str(word),))
        return str(word)
