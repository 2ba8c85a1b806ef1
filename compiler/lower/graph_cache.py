"""Load graphs that are kept with their model: with other numbers, most stay as they are.

A number is a symbol in a formula. Another value of it is put in, and nothing is lowered again, as
long as nobody looked at its value while the formulas were made: a condition, a range, a sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from operator import ge, le

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.case_tables import case_tables
from qps.compiler.configure.configuration import Configuration
from qps.compiler.lower.expressions.hardware_forms import HardwareForms
from qps.compiler.lower.expressions.lower_parameters import where_from
from qps.compiler.lower.expressions.option_switches import is_on
from qps.compiler.lower.expressions.symbolic_numbers import count_of, is_some
from qps.compiler.lower.load_graph import Assumption, LoadGraph
from qps.engine.expressions.formulas import ONE, ZERO, Formula, number
from qps.engine.expressions.memo import Memory

OUTLINE, BY_POINTS, AT_ANY_POINT = "outline", "by points", "at any point"
"""How a graph is labeled in which nothing moves: by where its numbers lie or not; or an outline."""

Entry = tuple[Configuration, LoadGraph, str]
"""A graph, what it was lowered of, and which of these it is."""

Shape = tuple[object, ...]
"""All of a configuration but its numbers, and what else a graph was requested with."""

_SHARED, _OUTLINE = object(), object()
_ROOM = 20_000
"""Numbers and demands, in all graphs that are kept."""
_MOST_ALIKE = 5
"""Graphs of one shape that are kept."""


class _CachedGraph(Struct, frozen=True):
    graph: LoadGraph
    configuration: Configuration


class GraphCache:
    """The graphs of a model that were requested last; all of them are made with one `memory`.

    `added` explains how many were, besides those that were taken from elsewhere.
    """

    def __init__(self, model: ir.Model) -> None:
        self.memory = Memory()
        self.added = 0
        self._size = 0
        self._model = model
        self._graphs: dict[Shape, list[_CachedGraph]] = {}
        self._decide: dict[Shape, frozenset[str]] = {}
        self._forms = HardwareForms(model)
        self._declared = {parameter.name: parameter for parameter in model.parameters}
        # Of these it counts, too, whether they were set.
        self._distinguished = {one.name for one in model.parameters if one.is_elastic} | {
            kind.parameter
            for one in model.parameters
            if isinstance(one.value, ir.Mixture)
            for kind in one.value.classes
        }

    def shape_of(self, configuration: Configuration, *questions: object) -> Shape:
        """Return what two configurations have in common that differ in numbers alone."""
        now = configuration
        return (
            *now.options.values(),
            *((place.machine, place.count, place.count_before) for place in now.nodes.values()),
            *((place.network, place.count, place.count_before) for place in now.links.values()),
            *self._rest(now, questions),
        )

    def shared_shape_of(self, configuration: Configuration, *questions: object) -> Shape:
        """Return the same of configurations that may differ in options and in hardware, too.

        In options that are numbers; which are not is known by the graphs that there are.
        """
        return self._with_options(self._shared(configuration, questions), configuration)

    def outline_of(self, configuration: Configuration) -> Shape:
        """Return the same of those that may also differ in how many of each place there are."""
        return self._with_options(self._outline(configuration), configuration)

    def add_shared(
        self, configuration: Configuration, graph: LoadGraph, *questions: object
    ) -> LoadGraph:
        """Return a graph with switches, kept."""
        return self._add_switched(self._shared(configuration, questions), configuration, graph)

    def add_outline(self, configuration: Configuration, graph: LoadGraph) -> LoadGraph:
        """Return a graph with switches in which counts are symbols, kept."""
        return self._add_switched(self._outline(configuration), configuration, graph)

    def _add_switched(
        self, own: Shape, configuration: Configuration, graph: LoadGraph
    ) -> LoadGraph:
        self._decide[own] = self._decide.get(own, frozenset()) | graph.basis.options
        return self.keep(self._with_options(own, configuration), configuration, graph)

    def _with_options(self, shape: Shape, configuration: Configuration) -> Shape:
        decide = sorted(self._decide.get(shape, ()))
        return (*((option, configuration.options[option]) for option in decide), *shape)

    def _shared(self, configuration: Configuration, questions: Iterable[object]) -> Shape:
        now, form = configuration, self._forms.of
        return (
            _SHARED,
            *(
                (form(place.machine), place.count, place.count_before)
                for place in now.nodes.values()
            ),
            *(
                (form(place.network), place.count, place.count_before)
                for place in now.links.values()
            ),
            *self._rest(now, questions),
        )

    def _outline(self, configuration: Configuration) -> Shape:
        now, form = configuration, self._forms.of
        return (
            _OUTLINE,
            *(
                (form(place.machine), _counted(place.count), place.count_before)
                for place in now.nodes.values()
            ),
            *(
                (form(place.network), _counted(place.count), place.count_before)
                for place in now.links.values()
            ),
            *self._rest(now, ()),
        )

    def _rest(self, now: Configuration, questions: Iterable[object]) -> Shape:
        own = (
            *(place.own for place in now.nodes.values()),
            *(place.own for place in now.links.values()),
        )
        return (*questions, now.low, now.high, now.mode, now.case, own, *self._parameters(now))

    def _parameters(self, configuration: Configuration) -> Iterator[object]:
        """Yield what parameters are; expressions by where they are in memory: they are kept."""
        for name, value in configuration.parameters.items():
            yield ir.Constant if isinstance(value, ir.Constant) else id(value)
            if name in self._distinguished:
                declared = self._declared[name]
                yield value is declared.value
                yield configuration.values_from[name] is declared.value_span

    def like(self, shape: Shape, configuration: Configuration) -> LoadGraph | None:
        """Return a graph of a shape with the numbers of a configuration, None where none fits."""
        values = configuration.parameters
        for cached in self._graphs.get(shape, ()):
            before, graph = cached.configuration, cached.graph
            moved = [n for n, value in values.items() if _differ(value, before.parameters[n])]
            put_in = {
                symbol.name: ONE if is_on(one, configuration.options) else ZERO
                for one, symbol in graph.basis.switches.items()
                if is_on(one, configuration.options) is not is_on(one, before.options)
            }
            hardware = self._forms.moved(graph.assumptions, before, configuration)
            if hardware is None:
                continue
            put_in |= hardware | _counts(graph.assumptions, before, configuration)
            if graph.basis.evaluated.isdisjoint((*moved, *put_in)) and all(
                _is_in_range(self._declared[name], values[name]) for name in moved
            ):
                return self._with_numbers(cached, configuration, put_in)
        return None

    def keep(self, shape: Shape, configuration: Configuration, graph: LoadGraph) -> LoadGraph:
        """Return a graph, kept; those that were made first are forgotten where there are many."""
        alike = self._graphs.pop(shape, [])
        self._graphs[shape] = alike
        alike.append(_CachedGraph(graph, configuration))
        self.added += 1
        self._size += _size(graph)
        while len(alike) > _MOST_ALIKE or (self._size > _ROOM and len(self._graphs) > 1):
            oldest = shape if len(alike) > _MOST_ALIKE else next(iter(self._graphs))
            self._size -= _size(self._graphs[oldest].pop(0).graph)
            if not self._graphs[oldest]:
                del self._graphs[oldest]
        return graph

    def entries(self) -> Iterator[Entry]:
        """Yield all graphs in which nothing moves, and all outlines."""
        for shape, alike in self._graphs.items():
            for cached in alike:
                of = cached.configuration
                if shape == self.outline_of(of):
                    yield of, cached.graph, OUTLINE
                for which in (BY_POINTS, AT_ANY_POINT):
                    if shape == self._with_fixed_numbers(of, which):
                        yield of, cached.graph, which

    def take(self, graphs: Iterable[Entry]) -> None:
        """Keep graphs that were lowered elsewhere, of this very model."""
        for configuration, graph, which in graphs:
            if which == OUTLINE:
                self.add_outline(configuration, graph)
            else:
                self.keep(self._with_fixed_numbers(configuration, which), configuration, graph)
        self.added = 0

    def _with_fixed_numbers(self, configuration: Configuration, which: str) -> Shape:
        """Return the shape of graphs in which no number moves, nor sizes do."""
        return self.shape_of(configuration, False, which == BY_POINTS)  # noqa: FBT003

    def _with_numbers(
        self, cached: _CachedGraph, configuration: Configuration, put_in: Mapping[str, Formula]
    ) -> LoadGraph:
        """Return a graph with the numbers of a configuration, and where these come from.

        Of what is `put_in` that is not known: of what many configurations share.
        """
        before, now = cached.configuration, configuration
        known = cached.graph.assumptions
        changed = {
            name: self._assumption(known[name], value, configuration)
            for name, value in now.parameters.items()
            if name in known
            and isinstance(value, ir.Constant)
            and (
                value is not before.parameters[name]
                or now.values_from[name] is not before.values_from[name]
            )
        }
        changed |= {name: replace(known[name], value=value) for name, value in put_in.items()}
        if not changed:
            return cached.graph
        varied = case_tables(self._model, configuration)
        graph = cached.graph.with_assumptions(changed)
        return replace(graph, stated=replace(graph.stated, varied=varied))

    def _assumption(
        self, known: Assumption, value: ir.Constant, configuration: Configuration
    ) -> Assumption:
        text, span, source = where_from(self._declared[known.name], configuration)
        written = " ".join(text.split())
        return replace(known, value=number(value.value), text=written, span=span, source=source)


def _counted(count: ir.Expr) -> object:
    """Return all of a count that is no number above zero."""
    return ir.Constant if is_some(count) else count


def _counts(
    known: Mapping[str, Assumption], before: Configuration, now: Configuration
) -> dict[str, Formula]:
    """Return the numbers of machines and networks in an outline that are others now."""
    found: dict[str, Formula] = {}
    pairs: list[tuple[ir.Node | ir.Link, ir.Node | ir.Link]] = []
    pairs += [(before.nodes[name], node) for name, node in now.nodes.items()]
    pairs += [(before.links[name], link) for name, link in now.links.items()]
    for was, place in pairs:
        name = count_of(place.name)
        if place is not was and name in known and is_some(place.count):
            value = number(place.count.value)
            if value is not known[name].value:
                found[name] = value
    return found


def _size(graph: LoadGraph) -> int:
    return len(graph.assumptions) + sum(len(one.parts) for one in graph.resources.values())


def _differ(value: ir.Expr, before: ir.Expr) -> bool:
    """Return whether two values are different numbers: all else is of the shape."""
    if value is before or not isinstance(value, ir.Constant):
        return False
    return not isinstance(before, ir.Constant) or value.value != before.value


def _is_in_range(parameter: ir.Parameter, value: ir.Expr) -> bool:
    """Return whether a number is sure to be in the range of a parameter."""
    low, high = (
        bound.value if isinstance(bound, ir.Constant) else bound
        for bound in (parameter.low, parameter.high)
    )
    if not isinstance(value, ir.Constant):
        return False
    return all(
        bound is None or (isinstance(bound, Fraction) and is_right(value.value, bound))
        for bound, is_right in ((low, ge), (high, le))
    )
