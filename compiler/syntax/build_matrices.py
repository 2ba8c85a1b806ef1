"""Parse tree to syntax tree, the part for matrices and what is claimed of them."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast
from qps.compiler.syntax.build_expressions import ExpressionBuilder, token_of, tree_of, trees
from qps.grammar.parsing import Piece, Tree


class MatrixBuilder(ExpressionBuilder):
    """Builds axes, the conditions on rows, and claims about matrices."""

    def _rows(self, pieces: Sequence[Tree]) -> ast.Rows:
        axes = [self._axis(p) for p in pieces if p.data in ("axis", "mode_axis", "scenario_axis")]
        return ast.Rows(
            axes=tuple(axes),
            included=tuple(
                tuple(self.change(change) for change in trees(p.children))
                for p in pieces
                if p.data == "included"
            ),
            excluded=tuple(self._expr(p.children[0]) for p in pieces if p.data == "excluded"),
            wanted=tuple(self._expr(p.children[0]) for p in pieces if p.data == "wanted"),
            order=tuple(
                self._sort_key(key)
                for p in pieces
                if p.data == "ordered"
                for key in trees(p.children)
            ),
        )

    def _axis(self, tree: Tree) -> ast.Axis:
        span, values = self._span(tree), tree_of(tree.children[-1])
        if tree.data == "axis":
            name = self._dotted(tree.children[0])
        else:
            word = tree.data.removesuffix("_axis")
            name = ast.Name(Span(span.source, span.start, span.start + len(word)), (word,))
        if values.data == "listed":
            given = tuple(self._expr(child) for child in values.children if child is not None)
            return ast.Axis(span, name, given, self._span(values))
        return ast.Axis(span, name, self._spaced(values), self._span(values))

    def _spaced(self, tree: Tree) -> ast.Spaced:
        span, children = self._span(tree), tree.children
        bounds = self._range(children[0])
        match tree.data:
            case "stepped":
                return ast.Spaced(span=span, range=bounds, step=self._expr(children[1]))
            case "multiplied":
                return ast.Spaced(span=span, range=bounds, factor=self._expr(children[2]))
            case "divided":
                count = self._number(token_of(children[1]))
                is_logarithmic = children[2] is not None
                return ast.Spaced(
                    span=span, range=bounds, count=count, is_logarithmic=is_logarithmic
                )
        return ast.Spaced(span=span, range=bounds)

    def _sort_key(self, tree: Tree) -> ast.SortKey:
        name, descending = tree.children
        return ast.SortKey(self._span(tree), self._dotted(name), descending is not None)

    def _matrix_claim(self, tree: Tree) -> ast.MatrixClaim:
        quantifier, *rest = tree.children
        count: Piece = None
        if token_of(quantifier).type != "QUANTIFIER":
            count, *rest = rest
        _, matrix, where, condition = rest
        return ast.MatrixClaim(
            span=self._span(tree),
            quantifier=str(quantifier),
            count=None if count is None else self._number(token_of(count)),
            matrix=None
            if matrix is None
            else ast.Name(self._span(token_of(matrix)), (str(matrix),)),
            where=None if where is None else self._expr(where),
            condition=self._expr(condition),
        )
