"""Parse tree to syntax tree: total, every node with its span."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, cast

from qps.compiler.syntax import ast
from qps.compiler.syntax.build_cases import CaseBuilder
from qps.compiler.syntax.build_expressions import token_of, tree_of, trees
from qps.compiler.syntax.build_hardware import HardwareBuilder
from qps.compiler.syntax.build_matrices import MatrixBuilder
from qps.grammar.parsing import Piece, Token, Tree

N = TypeVar("N")

OUR_OWN = "this model"
"""Where a claim comes from whose `source model` says no more."""


class Builder(CaseBuilder, HardwareBuilder, MatrixBuilder):
    """Builds the nodes of one source; what cannot be built is reported."""

    # -- the file ------------------------------------------------------------------------

    def items(self, tree: Tree) -> list[str | ast.Declaration]:
        """Return the doc strings and declarations of a `start` tree, in order."""
        built: list[str | ast.Declaration] = []
        for piece in trees(tree.children):
            if piece.data == "doc":
                built.append(_doc_text(token_of(piece.children[0])))
                continue
            declaration = self._declaration(piece)
            if isinstance(declaration, ast.Defaults):
                self._default_machine = declaration.machine
            built.append(declaration)
        return built

    def _declaration(self, tree: Tree) -> ast.Declaration:
        build = cast("Callable[[Tree], ast.Declaration]", getattr(self, f"_{tree.data}"))
        return build(tree)

    # -- small pieces --------------------------------------------------------------------

    def _heading(self, token: Piece) -> ast.Name:
        """Return the heading of a column: a name, or any text in quotes."""
        word = token_of(token)
        text = str(word)[1:-1] if word.type == "STRING" else str(word)
        return ast.Name(self._span(word), (text,))

    # -- declarations --------------------------------------------------------------------

    def _use(self, tree: Tree) -> ast.Use:
        module, alias = tree.children
        named = self._text(module) if isinstance(module, Token) else self._dotted(module)
        return ast.Use(self._span(tree), named, None if alias is None else self._name(alias))

    def _item_unit(self, tree: Tree) -> ast.Unit:
        return ast.Unit(
            span=self._span(tree), name=self._name(tree.children[0]), is_rating=False, value=None
        )

    def _rating_unit(self, tree: Tree) -> ast.Unit:
        return ast.Unit(
            span=self._span(tree), name=self._name(tree.children[0]), is_rating=True, value=None
        )

    def _derived_unit(self, tree: Tree) -> ast.Unit:
        name, value = tree.children
        return ast.Unit(
            span=self._span(tree), name=self._name(name), is_rating=False, value=self._expr(value)
        )

    def _users(self, tree: Tree) -> ast.Users:
        name, bounds = tree.children
        return ast.Users(self._span(tree), self._name(name), self._range(bounds))

    def _user_group(self, tree: Tree) -> ast.Group:
        name, size = tree.children
        return ast.Group(self._span(tree), self._name(name), self._expr(size))

    def _option(self, tree: Tree) -> ast.Option:
        name, *choices, source = tree.children
        words = tuple(self._word(choice) for choice in choices if choice is not None)
        return ast.Option(
            span=self._span(tree),
            name=self._name(name),
            choices=words,
            source=self._source_text(source),
        )

    def _param(self, tree: Tree) -> ast.Param:
        name, value, bounds, source, fitted = tree.children
        return ast.Param(
            span=self._span(tree),
            name=self._name(name),
            value=self._expr(value),
            range=None if bounds is None else self._range(bounds),
            source=self._source_text(source),
            fitted=self._source_text(fitted),
        )

    def _elastic_param(self, tree: Tree) -> ast.Param:
        name, bounds, priority, source = tree.children
        limits = self._range(bounds)
        return ast.Param(
            span=self._span(tree),
            name=self._name(name),
            value=limits.high,
            range=limits,
            source=self._source_text(source),
            is_elastic=True,
            priority=None if priority is None else self._expr(priority),
        )

    def _let(self, tree: Tree) -> ast.Let:
        name, value = tree.children
        return ast.Let(self._span(tree), self._name(name), self._expr(value))

    def _func(self, tree: Tree) -> ast.Func:
        name, formals, value = tree.children
        return ast.Func(
            span=self._span(tree),
            name=self._name(name),
            formals=self._formals(formals),
            value=self._expr(value),
        )

    def _stream(self, tree: Tree) -> ast.Stream:
        name, flows, each, *rest = tree.children
        items: list[ast.Emission | ast.At | ast.Over | ast.Playout] = []
        for piece in trees(rest):
            span = self._span(piece)
            if piece.data == "emission":
                values = tuple(self._expr(value) for value in piece.children)
                items.append(ast.Emission(span, values))
            elif piece.data == "at":
                node, *steps = piece.children
                built = tuple(self._step(step) for step in trees(steps))
                items.append(ast.At(span, self._dotted(node), built))
            elif piece.data == "playout":
                delay, dropping = piece.children
                late = None if dropping is None else self._expr(dropping)
                items.append(ast.Playout(span, self._expr(delay), late))
            else:
                links = tuple(self._dotted(link) for link in piece.children)
                items.append(ast.Over(span, links))
        return ast.Stream(
            span=self._span(tree),
            name=self._name(name),
            flows=None if flows is None else self._expr(flows),
            each=None if each is None else self._dotted(each),
            items=tuple(items),
        )

    def _step(self, tree: Tree) -> ast.Step:
        name, arguments, repeat, group, spread, when = tree.children
        return ast.Step(
            span=self._span(tree),
            component=self._dotted(name),
            arguments=() if arguments is None else self._exprs(tree_of(arguments)),
            repeat=None if repeat is None else self._expr(tree_of(repeat).children[-1]),
            group=self._in_group(group),
            spread=None if spread is None else self._spread(tree_of(spread)),
            condition=None if when is None else self._expr(tree_of(when).children[0]),
        )

    def _spread(self, tree: Tree) -> ast.Spread:
        receivers, cast_name = tree.children
        to = tree_of(receivers)
        kind = to.data[3:]
        whom, most = (*to.children, None)[:2]
        is_group = isinstance(whom, Tree) and whom.data == "in_group"
        return ast.Spread(
            span=self._span(tree),
            kind=kind,
            target=None if whom is None or is_group else self._dotted(whom),
            cast=None if cast_name is None else self._word(cast_name),
            group=self._in_group(whom) if is_group else None,
            most=None if most is None else self._expr(most),
        )

    def _in_group(self, piece: Piece) -> ast.Name | None:
        """Return the group behind `in`."""
        return None if piece is None else self._dotted(tree_of(piece).children[0])

    def _measure(self, tree: Tree) -> ast.Measure:
        name, value = tree.children
        return ast.Measure(self._span(tree), self._name(name), self._expr(value))

    def _require(self, tree: Tree) -> ast.Require:
        built = tuple(self._requirement(piece) for piece in trees(tree.children))
        return ast.Require(self._span(tree), built)

    def _requirement(self, tree: Tree) -> ast.Requirement:
        condition, ideal = tree.children
        best = None if ideal is None else self._expr(ideal)
        return ast.Requirement(self._span(tree), self._expr(condition), best)

    def _planned_load(self, tree: Tree) -> ast.Target:
        aims = []
        for aim in trees(tree.children):
            named, value = aim.children
            if isinstance(named, Token):
                name = ast.Name(self._span(named), ("link",))
            else:
                name = self._dotted(named)
            aims.append(ast.Aim(self._span(aim), name, self._expr(value)))
        return ast.Target(self._span(tree), tuple(aims))

    def _mode(self, tree: Tree) -> ast.Mode:
        name, *rest = tree.children
        pieces = trees(rest)
        return ast.Mode(
            span=self._span(tree),
            name=self._name(name),
            requirements=tuple(self._requirement(p) for p in pieces if p.data == "requirement"),
            changes=tuple(self.change(p) for p in pieces if p.data != "requirement"),
        )

    def _quality_metric(self, tree: Tree) -> ast.Quality:
        return ast.Quality(self._span(tree), self._word(tree.children[0]))

    def _quality_formula(self, tree: Tree) -> ast.Quality:
        return ast.Quality(self._span(tree), self._expr(tree.children[0]))

    def _scenario(self, tree: Tree) -> ast.Scenario:
        name, *changes = tree.children
        built = tuple(self.change(change) for change in trees(changes))
        return ast.Scenario(self._span(tree), self._name(name), built)

    def _remarks(self, pieces: Iterable[Tree]) -> tuple[ast.Remark, ...]:
        return tuple(
            ast.Remark(self._span(p), str(p.children[0]), self._text(p.children[1]))
            for p in pieces
            if p.data == "remark"
        )

    def _expect(self, tree: Tree) -> ast.Expect:
        name, title, *rest = tree.children
        pieces = trees(rest)
        source, is_our_own = self._stated_source(pieces)
        return ast.Expect(
            span=self._span(tree),
            name=self._name(name),
            title=None if title is None else self._text(title),
            claims=tuple(self._claim(p) for p in pieces if p.data == "claim"),
            source=source,
            remarks=self._remarks(pieces),
            matrix_claims=tuple(self._matrix_claim(p) for p in pieces if p.data == "matrix_claim"),
            is_our_own=is_our_own,
            missed=self._only_text("missed", pieces),
        )

    def _stated_source(self, pieces: Sequence[Tree]) -> tuple[ast.Text | None, bool]:
        """Return where claims or runs come from, and whether that is the model itself."""
        stated = [p for p in pieces if p.data in ("claim_source", "own_source")]
        sources = [self._claim_source(p) for p in stated]
        source = self._one("`source`", sources, lambda text: text.span)
        return source, any(p.data == "own_source" for p in stated)

    def _claim_source(self, piece: Tree) -> ast.Text:
        """Return where a claim comes from: a document, or the model itself and by what."""
        *words, text = piece.children
        if text is not None:
            return self._text(text)
        return ast.Text(self._span(token_of(words[0])), OUR_OWN)

    def _matrix(self, tree: Tree) -> ast.Matrix:
        name, title, changes, *rest = tree.children
        pieces = trees(rest)
        populations = [self.change(tree_of(p.children[0])) for p in pieces if p.data == "asked_at"]
        return ast.Matrix(
            span=self._span(tree),
            name=self._name(name),
            title=None if title is None else self._text(title),
            changes=self._changes(changes),
            rows=self._rows(pieces),
            at=self._one("`at`", populations, lambda change: change.span),
            columns=tuple(self._derived(p) for p in pieces if p.data == "derived"),
            selected=tuple(
                self._dotted(n) for p in pieces if p.data == "selected" for n in p.children
            ),
            source=self._only_source(pieces),
            remarks=self._remarks(pieces),
        )

    def _derived(self, tree: Tree) -> ast.Derived:
        name, value = tree.children
        return ast.Derived(self._span(tree), self._name(name), self._expr(value))

    def _claim(self, tree: Tree) -> ast.Claim:
        value, claimed, tolerance, changes = tree.children
        return ast.Claim(
            span=self._span(tree),
            value=self._expr(value),
            claimed=None if claimed is None else self._expr(claimed),
            tolerance=None if tolerance is None else self._expr(tolerance),
            changes=self._changes(changes),
        )

    def _observed_runs(self, tree: Tree) -> ast.Observe:
        name, file, changes, *rest = tree.children
        pieces = trees(rest)
        columns = []
        for piece in pieces:
            if piece.data == "column":
                heading, unit, target, tolerance = piece.children
                columns.append(
                    ast.Column(
                        span=self._span(piece),
                        name=self._heading(heading),
                        unit=None if unit is None else self._expr(unit),
                        target=self._expr(target),
                        tolerance=None if tolerance is None else self._expr(tolerance),
                    )
                )
        source, is_our_own = self._stated_source(pieces)
        return ast.Observe(
            span=self._span(tree),
            name=self._name(name),
            file=self._text(file),
            changes=self._changes(changes),
            columns=tuple(columns),
            source=source,
            remarks=self._remarks(pieces),
            is_our_own=is_our_own,
            missed=self._only_text("missed", pieces),
        )

    def _observed_trace(self, tree: Tree) -> ast.Trace:
        name, file, unit, period, source = tree.children
        return ast.Trace(
            span=self._span(tree),
            name=self._name(name),
            file=self._text(file),
            unit=None if unit is None else self._expr(unit),
            period=None if period is None else self._expr(period),
            source=self._source_text(source),
        )

    def _figure(self, tree: Tree) -> ast.Figure:
        name, title, *rest = tree.children
        pieces = trees(rest)
        axes = [
            ast.Abscissa(self._span(p), self._dotted(p.children[0]), self._range(p.children[1]))
            for p in pieces
            if p.data == "abscissa"
        ]
        return ast.Figure(
            span=self._span(tree),
            name=self._name(name),
            title=None if title is None else self._text(title),
            abscissa=self._one("`over`", axes, lambda axis: axis.span),
            curves=tuple(self._curve(p) for p in pieces if p.data == "curve"),
            loads=tuple(self._loads(p) for p in pieces if p.data == "loads"),
            logarithmic=tuple(
                self._word(p.children[-1]) for p in pieces if p.data == "logarithmic"
            ),
            source=self._only_source(pieces),
            remarks=self._remarks(pieces),
        )

    def _loads(self, tree: Tree) -> ast.Loads:
        label, changes = tree.children
        text = None if label is None else self._text(label)
        return ast.Loads(self._span(tree), text, self._changes(changes))

    def _curve(self, tree: Tree) -> ast.Curve:
        label, value, changes = tree.children
        return ast.Curve(
            self._span(tree),
            None if label is None else self._text(label),
            self._expr(value),
            self._changes(changes),
        )


def _doc_text(token: Token) -> str:
    lines = [line.strip() for line in str(token)[3:-3].strip().splitlines()]
    return "\n".join(lines)
