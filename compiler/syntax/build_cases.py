"""Parse tree to syntax tree, the part for parameters with several values and for kinds."""

from __future__ import annotations

from qps.compiler.syntax import ast
from qps.compiler.syntax.build_expressions import ExpressionBuilder, token_of, tree_of, trees
from qps.grammar.parsing import Token, Tree


class CaseBuilder(ExpressionBuilder):
    """Builds what states several values: by case, and by kind."""

    def _cases(self, tree: Tree) -> ast.Cases:
        values = []
        for piece in trees(tree.children):
            case, value = piece.children
            built = self._expr(value)
            values.append(ast.CaseValue(self._span(piece), str(token_of(case)), built))
        return ast.Cases(self._span(tree), tuple(values))

    def _case_param(self, tree: Tree) -> ast.Param:
        name, cases, bounds, source, fitted = tree.children
        return ast.Param(
            span=self._span(tree),
            name=self._name(name),
            value=self._cases(tree_of(cases)),
            range=None if bounds is None else self._range(bounds),
            source=self._source_text(source),
            fitted=self._source_text(fitted),
        )

    def _kind_param(self, tree: Tree) -> ast.Param:
        name, kinds, *rest, bounds = tree.children
        owner, pieces = self._name(name), trees(rest)
        entries = tuple(self._kind_value(p) for p in pieces if p.data == "kind_value")
        named = self._dotted(kinds)
        last = entries[-1].span if entries else named.span
        table = ast.KindTable(named.span.to(last), owner, named, entries)
        return ast.Param(
            span=self._span(tree),
            name=owner,
            value=table,
            range=None if bounds is None else self._range(bounds),
            source=self._only_source(pieces),
            fitted=self._only_text("fitted", pieces),
        )

    def _kind_value(self, tree: Tree) -> ast.KindValue:
        name, value = tree.children
        is_cases = isinstance(value, Tree) and value.data == "cases"
        built = self._cases(tree_of(value)) if is_cases else self._expr(value)
        return ast.KindValue(self._span(tree), self._word(name), built)

    def _kinds(self, tree: Tree) -> ast.Kinds:
        name, *rest = tree.children
        pieces = trees(rest)
        patterns = [piece for piece in rest if isinstance(piece, Token)]
        pattern = self._text(patterns[0]) if patterns else None
        return ast.Kinds(
            span=self._span(tree),
            name=self._name(name),
            weights=tuple(self._weight(p) for p in pieces if p.data == "weight"),
            pattern=pattern,
            source=self._only_source(pieces),
            of_users=any(piece.data == "of_users" for piece in pieces),
        )

    def _weight(self, tree: Tree) -> ast.Weight:
        name, value = tree.children
        return ast.Weight(self._span(tree), self._word(name), self._expr(value))
