"""Parse tree to syntax tree, the part for machines, networks, and what steps cost on them."""

from __future__ import annotations

from collections.abc import Iterable

from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax import ast
from qps.compiler.syntax.build_expressions import ExpressionBuilder, tree_of, trees
from qps.grammar.parsing import Piece, Tree


class HardwareBuilder(ExpressionBuilder):
    """Builds machines, networks, components and topologies."""

    def __init__(self, source: Source, sink: Sink) -> None:
        super().__init__(source, sink)
        self._default_machine: ast.Name | None = None

    def _defaults(self, tree: Tree) -> ast.Defaults:
        basis = tree_of(tree.children[0])
        return ast.Defaults(self._span(tree), self._dotted(basis.children[0]))

    def _machine(self, tree: Tree) -> ast.Machine:
        name, *rest = tree.children
        pieces = trees(rest)
        return ast.Machine(
            span=self._span(tree),
            name=self._name(name),
            resources=tuple(self._resource(p) for p in pieces if p.data == "resource"),
            ratings=tuple(self._expr(p.children[0]) for p in pieces if p.data == "extra_rating"),
            price=self._only_price(pieces),
            source=self._only_source(pieces),
        )

    def _resource(self, tree: Tree) -> ast.ResourceItem:
        name, capacity, *attributes = tree.children
        pieces = trees(attributes)
        built = tuple(
            ast.Attribute(self._span(a), self._word(a.children[0]), self._amount(a.children[1]))
            for a in pieces
            if a.data == "attribute"
        )
        return ast.ResourceItem(
            span=self._span(tree),
            name=self._name(name),
            capacity=self._expr(capacity),
            attributes=built,
            queueing=self._only_queueing(pieces),
        )

    def _only_queueing(self, pieces: Iterable[Tree]) -> ast.Queueing | None:
        found = []
        for piece in pieces:
            if piece.data == "queueing":
                discipline, cv = piece.children
                variation = None if cv is None else self._expr(cv)
                found.append(ast.Queueing(self._span(piece), self._word(discipline), variation))
        return self._one("`queueing`", found, lambda queueing: queueing.span)

    def _network(self, tree: Tree) -> ast.Network:
        name, *rest = tree.children
        pieces = trees(rest)
        media = [
            ast.Text(self._span(piece), str(piece.children[0]))
            for piece in pieces
            if piece.data == "medium"
        ]
        properties = tuple(
            ast.LinkProperty(self._span(p), str(p.children[0]), self._expr(p.children[1]))
            for p in pieces
            if p.data == "link_property"
        )
        return ast.Network(
            span=self._span(tree),
            name=self._name(name),
            medium=self._one("the medium", media, lambda medium: medium.span),
            properties=properties,
            price=self._only_price(pieces),
            source=self._only_source(pieces),
            queueing=self._only_queueing(pieces),
        )

    def _component(self, tree: Tree) -> ast.Component:
        name, formals, *rest = tree.children
        pieces = trees(rest)
        items: list[ast.Cost | ast.Effect] = []
        for piece in pieces:
            if piece.data == "cost":
                items.append(self._cost(piece))
            elif piece.data == "effect":
                kind, value = piece.children
                items.append(ast.Effect(self._span(piece), str(kind), self._expr(value)))
            elif piece.data == "merge":
                items.append(ast.Effect(self._span(piece), "merge", None))
        return ast.Component(
            span=self._span(tree),
            name=self._name(name),
            formals=self._formals(formals),
            items=tuple(items),
            source=self._only_source(pieces),
            default_machine=self._default_machine,
            fitted=self._only_text("fitted", pieces),
        )

    def _cost(self, tree: Tree) -> ast.Cost:
        name, amount, *rest = tree.children
        bases = trees(rest)
        measured = [self._dotted(b.children[0]) for b in bases if b.data == "measured_on"]
        scaled = [self._name(b.children[0]) for b in bases if b.data == "scaled_by"]
        loads = [self._range_or_expr(b.children[0]) for b in bases if b.data == "at_load"]
        threads = [b for b in bases if b.data == "single_thread"]
        thread = self._one("`single_thread`", threads, self._span)
        named = None if thread is None else thread.children[0]
        return ast.Cost(
            span=self._span(tree),
            resource=self._name(name),
            amount=self._amount(amount),
            measured_on=self._one("`measured on`", measured, lambda machine: machine.span),
            scaled_by=self._one("`scaled by`", scaled, lambda rating: rating.span),
            single_thread=thread is not None,
            at_load=self._one("the load", loads, lambda load: load.span),
            thread=None if named is None else self._name(named),
        )

    def _amount(self, piece: Piece) -> ast.Expr | ast.Fit:
        """Return an expression, or the table that numbers are fitted to."""
        if isinstance(piece, Tree) and piece.data == "fit":
            return ast.Fit(self._span(piece), self._text(piece.children[1]))
        return self._expr(piece)

    def _topology(self, tree: Tree) -> ast.Topology:
        items: list[ast.Node | ast.Link] = []
        for piece in trees(tree.children):
            name, place, *ends = piece.children
            span, built = self._span(piece), self._name(name)
            if piece.data == "node":
                items.append(ast.Node(span, built, self._expr(place)))
            else:
                joined = tuple(self._dotted(end) for end in ends)
                items.append(ast.Link(span, built, self._expr(place), joined))
        return ast.Topology(self._span(tree), tuple(items))

    # -- small pieces --------------------------------------------------------------------

    def _formals(self, piece: Piece) -> tuple[ast.Formal, ...]:
        if piece is None:
            return ()
        formals = []
        for tree in trees(tree_of(piece).children):
            name, example = tree.children
            built = None if example is None else self._expr(example)
            formals.append(ast.Formal(self._span(tree), self._name(name), built))
        return tuple(formals)

    def _only_price(self, pieces: Iterable[Tree]) -> ast.Expr | None:
        prices = [self._expr(p.children[0]) for p in pieces if p.data == "price"]
        return self._one("`price`", prices, lambda price: price.span)
