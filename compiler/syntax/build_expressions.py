"""Parse tree to syntax tree, the part for expressions and what is made of them alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TypeVar

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.syntax import ast
from qps.grammar.parsing import Piece, Token, Tree
from qps.grammar.words import RESERVED

N = TypeVar("N")

DEEPEST = 250
"""Nesting of an expression beyond which it is refused."""

_LONGEST_NUMBER = 40
_LARGEST_EXPONENT = 300


class ExpressionBuilder:
    """Builds the expressions of one source; what cannot be built is reported."""

    def __init__(self, source: Source, sink: Sink) -> None:
        self._source = source
        self._sink = sink
        self._depth = 0
        self._is_too_deep = False

    def change(self, tree: Tree) -> ast.Change:
        """Return `name = value`."""
        if tree.data != "change":
            span, chosen = self._span(tree), self._dotted(tree.children[0])
            word = tree.data.removesuffix("_change")
            keyword = ast.Name(Span(span.source, span.start, span.start + len(word)), (word,))
            return ast.Change(span, keyword, ast.Reference(chosen.span, chosen))
        name, value = tree.children
        return ast.Change(self._span(tree), self._dotted(name), self._range_or_expr(value))

    def _changes(self, piece: Piece) -> tuple[ast.Change, ...]:
        if piece is None:
            return ()
        return tuple(self.change(tree) for tree in trees(tree_of(piece).children))

    def _span(self, piece: Tree | Token) -> Span:
        if isinstance(piece, Token):
            return Span(self._source, piece.start, piece.end)
        return Span(self._source, max(piece.start, 0), max(piece.end, 0))

    def _dotted(self, piece: Piece) -> ast.Name:
        tree = tree_of(piece)
        return ast.Name(self._span(tree), tuple(str(part) for part in tree.children))

    def _range(self, piece: Piece) -> ast.Range:
        tree = tree_of(piece)
        low, high = tree.children
        return ast.Range(self._span(tree), self._expr(low), self._expr(high))

    def _range_or_expr(self, piece: Piece) -> ast.Expr | ast.Range:
        if isinstance(piece, Tree) and piece.data == "range":
            return self._range(piece)
        return self._expr(piece)

    # -- small pieces --------------------------------------------------------------------

    def _name(self, token: Piece) -> ast.Name:
        """Return a plain name; a reserved word is reported."""
        word = token_of(token)
        span = self._span(word)
        if word.text in RESERVED:
            self._sink.report(
                codes.RESERVED_WORD,
                span,
                f"`{word}` is a word of the language and cannot be a name",
                hint=f"call it `{word}_` or something more telling",
            )
        return ast.Name(span, (str(word),))

    def _word(self, token: Piece) -> ast.Name:
        """Return a plain name that may be a reserved word, such as `off` behind an option."""
        word = token_of(token)
        return ast.Name(self._span(word), (str(word),))

    def _text(self, token: Piece) -> ast.Text:
        word = token_of(token)
        return ast.Text(self._span(word), str(word)[1:-1])

    def _source_text(self, piece: Piece) -> ast.Text | None:
        return None if piece is None else self._text(tree_of(piece).children[-1])

    def _one(self, kind: str, nodes: Sequence[N], span: Callable[[N], Span]) -> N | None:
        """Return the only node of a kind; a second one is reported."""
        for extra in nodes[1:]:
            self._sink.report(
                codes.MISPLACED, span(extra), f"{kind} is stated twice here", hint="keep one"
            )
        return nodes[0] if nodes else None

    def _only_source(self, pieces: Iterable[Tree]) -> ast.Text | None:
        return self._only_text("source", pieces)

    def _only_text(self, kind: str, pieces: Iterable[Tree]) -> ast.Text | None:
        """Return the text behind `source`, `fitted` or `missed`, where it stands once."""
        texts = [self._text(p.children[-1]) for p in pieces if p.data == kind]
        return self._one(f"`{kind}`", texts, lambda text: text.span)

    # -- expressions ---------------------------------------------------------------------

    def _exprs(self, tree: Tree) -> tuple[ast.Expr, ...]:
        return tuple(self._expr(child) for child in tree.children)

    def _expr(self, piece: Piece) -> ast.Expr:
        if isinstance(piece, Token):
            return self._number(piece)
        tree = tree_of(piece)
        while tree.data == "group" and tree.children[1] is None and _is_tree(tree.children[0]):
            tree = tree_of(tree.children[0])  # parentheses alone make nothing deeper
        if self._depth == 0:
            self._is_too_deep = False
        if self._depth >= DEEPEST:
            if self._is_too_deep:  # one expression is told once
                return ast.Number(self._span(tree), Fraction(1))
            self._is_too_deep = True
            self._sink.report(
                codes.TOO_DEEP,
                self._span(tree),
                f"expressions may be nested {DEEPEST} deep, this one goes deeper",
                hint="name its parts with `let`",
            )
            return ast.Number(self._span(tree), Fraction(1))
        self._depth += 1
        try:
            return self._expr_node(tree)
        finally:
            self._depth -= 1

    def _expr_node(self, tree: Tree) -> ast.Expr:  # noqa: C901, PLR0911, PLR0912 - a case a node
        span, children = self._span(tree), tree.children
        match tree.data:
            case "number":
                return self._number(token_of(children[0]))
            case "quantity":
                unit = self._unit(tree_of(children[1]))
                return ast.Quantity(span, self._number(token_of(children[0])), unit)
            case "group_quantity":
                # What stands in parentheses is one number: the unit multiplies all of it.
                parts = (self._expr(children[0]), self._unit(tree_of(children[1])))
                return ast.Product(span, tuple((False, part) for part in parts))
            case "number_power":
                base = self._number(token_of(children[0]))
                return ast.Power(span, base, self._exponent(tree_of(children[1])))
            case "raised":
                return ast.Power(
                    span, self._expr(children[0]), self._exponent(tree_of(children[1]))
                )
            case "reference":
                return ast.Reference(span, self._dotted(children[0]))
            case "sign":
                return ast.Reference(span, ast.Name(span, (str(children[0]),)))
            case "call":
                arguments = self._exprs(tree_of(children[1]))
                return ast.Call(span, self._dotted(children[0]), arguments)
            case "group":
                inner = self._expr(children[0])
                if children[1] is None:
                    return inner
                return ast.Changed(span, inner, self._changes(children[1]))
            case "negative":
                return ast.Negative(span, self._expr(children[1]))
            case "sum":
                return ast.Sum(span, self._chain(children, "MINUS"))
            case "product":
                return ast.Product(span, self._chain(children, "SLASH"))
            case "comparison":
                operands = tuple(self._expr(child) for child in children[::2])
                return ast.Comparison(span, operands, tuple(str(c) for c in children[1::2]))
            case "not_":
                return ast.Not(span, self._expr(children[0]))
            case "conditional":
                condition, then, otherwise = (self._expr(child) for child in children)
                return ast.Conditional(span, condition, then, otherwise)
            case kind:
                word = {"disjunction": "or", "conjunction": "and"}[kind]
                return ast.Junction(span, word, self._exprs(tree))

    def _chain(self, children: Sequence[Piece], marked: str) -> tuple[tuple[bool, ast.Expr], ...]:
        """Return operands with True where the operator before them is the marked one."""
        flags = [False, *(token_of(operator).type == marked for operator in children[1::2])]
        return tuple(zip(flags, (self._expr(child) for child in children[::2]), strict=True))

    def _unit(self, tree: Tree) -> ast.Expr:
        first, *rest = tree.children
        if isinstance(first, Token):
            span = self._span(first)
            return ast.Reference(span, ast.Name(span, (str(first),)))
        name = self._dotted(first)
        reference = ast.Reference(name.span, name)
        if not rest or rest[0] is None:
            return reference
        return ast.Power(self._span(tree), reference, self._exponent(tree_of(rest[0])))

    def _exponent(self, tree: Tree) -> ast.Expr:
        value = self._expr(tree.children[-1])
        return value if tree.children[0] is None else self._signed(tree, value)

    def _signed(self, tree: Tree, value: ast.Expr) -> ast.Expr:
        first = tree.children[0]
        if isinstance(first, Token) and first.type == "MINUS":
            return ast.Negative(self._span(tree), value)
        return value

    def _number(self, token: Token) -> ast.Number:
        span, digits = self._span(token), str(token).replace("_", "")
        mantissa, _, exponent = digits.lower().partition("e")
        is_long = max(len(mantissa), len(exponent)) > _LONGEST_NUMBER
        if is_long or abs(int(exponent or 0)) > _LARGEST_EXPONENT:
            self._sink.report(
                codes.NUMBER_SIZE,
                span,
                "this number is beyond what QPS computes with",
                hint=f"at most {_LONGEST_NUMBER} digits and exponents up to {_LARGEST_EXPONENT}",
            )
            return ast.Number(span, Fraction(1))
        return ast.Number(span, Fraction(digits))


def trees(pieces: Iterable[Piece]) -> list[Tree]:
    """Return the pieces that are trees."""
    return [piece for piece in pieces if isinstance(piece, Tree)]


def tree_of(piece: Piece) -> Tree:
    """Return a piece that the grammar makes a tree."""
    assert isinstance(piece, Tree)
    return piece


def _is_tree(piece: Piece) -> bool:
    return isinstance(piece, Tree)


def token_of(piece: Piece) -> Token:
    """Return a piece that the grammar makes a token."""
    assert isinstance(piece, Token)
    return piece
