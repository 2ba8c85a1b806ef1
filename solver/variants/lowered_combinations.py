"""Combinations of choices, each lowered once; those that differ in nothing that matters are one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    changed,
    changed_by_modes,
    in_each_mode,
    in_force,
)
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.lower.graph_cache import GraphCache
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.solver.variants.selects import Picks, Select, placed
from qps.solver.variants.starting_points import Start, StartingPoint, StartNumber
from qps.solver.variants.variant_graphs import Variant, is_external, variant_graph


class LoweredCombination(Struct, frozen=True, kw_only=True):
    """The load graphs of a combination, one for each mode, and the configurations they are of."""

    shape: int
    picks: Picks
    relevant: frozenset[int]
    graphs: tuple[LoadGraph, ...]
    configurations: tuple[Configuration, ...]
    is_start: bool

    def variant(self, model: ir.Model) -> Variant:
        """Return the variant, with all that a page needs of its graphs."""
        elastic = frozenset(one.parameter.name for graph in self.graphs for one in graph.elastic)
        each = zip(self.configurations, self.graphs, strict=True)
        with model.derived(GraphCache).memory.in_use():  # nearly all of it is as in the others
            graphs = tuple(variant_graph(model, *one, elastic) for one in each)
        return Variant(
            shape=self.shape,
            picks=self.picks,
            relevant=self.relevant,
            is_start=self.is_start,
            graphs=graphs,
        )


class LoweredCombinations(Struct, kw_only=True):
    """Lowers combinations, each once; one that differs in nothing that matters is known."""

    model: ir.Model
    selects: tuple[Select, ...]
    variants: list[LoweredCombination] = field(default_factory=list)
    unfit: set[tuple[int, Picks]] = field(default_factory=set)
    is_starting: bool = True
    _shapes: list[Configuration] = field(default_factory=list)
    work: int = 0

    def start(self, origin: StartingPoint, doc: str | None) -> Start | None:
        """Return a start, lowered; of the shape of an earlier one where only numbers differ.

        None where it has no answer.
        """
        configuration = origin.configuration
        picks = self._picks(configuration)
        variant = self._lowered(len(self._shapes), picks, configuration)
        if variant is None:
            return None
        usual = base_configuration(self.model).parameters
        own = {n for n, value in configuration.parameters.items() if value != usual[n]}
        own -= changed_by_modes(self.model, configuration)
        start = Start(
            name=origin.name,
            doc=doc,
            configuration=configuration,
            settings=origin.settings,
            shape=variant.shape,
            picks=picks,
            numbers=tuple(self._numbers(configuration, own)),
        )
        for shape, known in enumerate(self._shapes):
            if not _differ_in_numbers(known, configuration, variant.graphs):
                continue
            alike = self.add(shape, picks)
            if alike is not None and _are_alike(alike.graphs, variant.graphs, own):
                return replace(start, shape=shape)
        self._shapes.append(configuration)
        self.variants.append(variant)
        return start

    def _numbers(
        self, configuration: Configuration, names: Collection[str]
    ) -> Iterator[StartNumber]:
        """Yield the plain numbers among some parameters of a configuration, in their order."""
        declared = {parameter.name: parameter for parameter in self.model.parameters}
        for name, value in configuration.parameters.items():
            if name in names and isinstance(value, ir.Constant):
                yield StartNumber(
                    name=name,
                    value=value.value,
                    dimension=declared[name].dimension,
                    span=configuration.values_from[name],
                    is_input=is_external(self.model, declared[name], name),
                )

    def add(self, shape: int, picks: Picks) -> LoweredCombination | None:
        """Return the variant of a combination, lowered if it is new; None if it cannot be."""
        for variant in self.variants:
            if variant.shape == shape and all(
                variant.picks[i] == picks[i] for i in variant.relevant
            ):
                return variant
        if (shape, picks) in self.unfit:
            return None
        base = self._shapes[shape]
        span = self.model.population.span
        assert span is not None
        # What stays as it is must not be requested: that would win over what a mode changes.
        now = self._picks(base)
        changes = [
            select.change(picks[i], span)
            for i, select in enumerate(self.selects)
            if picks[i] != now[i]
        ]
        new = self._lowered(shape, picks, changed(base, changes))
        if new is None:
            self.unfit.add((shape, picks))
        else:
            self.variants.append(new)
        return new

    def _picks(self, configuration: Configuration) -> Picks:
        return tuple(self._pick(select, configuration) for select in self.selects)

    def _pick(self, select: Select, configuration: Configuration) -> int:
        if select.kind == "option":
            return select.choices.index(configuration.options[select.name])
        if select.kind == "case":
            return select.choices.index(configuration.case.value)
        pairs = list(zip(select.choices, select.counts, strict=True))
        return pairs.index(placed(configuration, select.name))

    def _lowered(
        self, shape: int, picks: Picks, configuration: Configuration
    ) -> LoweredCombination | None:
        sink = Sink()
        check_placement(self.model, configuration, sink)
        if sink.has_errors:
            return None
        try:
            active = tuple(in_force(one) for one in in_each_mode(self.model, configuration))
            graphs = tuple(lower(self.model, one, sizes_move=True) for one in active)
        except QpsError:
            return None
        self.work += sum(map(_size, graphs))
        options = frozenset().union(*(graph.basis.options for graph in graphs))
        return LoweredCombination(
            shape=shape,
            picks=picks,
            relevant=frozenset(
                index
                for index, select in enumerate(self.selects)
                if select.kind != "option" or select.name in options
            ),
            graphs=graphs,
            configurations=active,
            is_start=self.is_starting,
        )


def _differ_in_numbers(
    known: Configuration, other: Configuration, graphs: Sequence[LoadGraph]
) -> bool:
    """Tell whether two configurations differ only in choices, places and plain numbers."""
    same = ("low", "high", "mode", "case")
    if any(getattr(other, part) != getattr(known, part) for part in same):
        return False
    decided = frozenset().union(*(graph.basis.decided for graph in graphs))
    return all(
        value == known.parameters[name]
        or (
            isinstance(value, ir.Constant)
            and isinstance(known.parameters[name], ir.Constant)
            and name not in decided
        )
        for name, value in other.parameters.items()
    )


def _size(graph: LoadGraph) -> int:
    """Return how many demands and stages there are in a graph."""
    demands = sum(len(resource.parts) for resource in graph.resources.values())
    return demands + sum(len(stream.latency) for stream in graph.streams.values())


def _formulas(graph: LoadGraph) -> tuple[object, ...]:
    parts = graph.resources, graph.criteria, graph.quality, graph.streams, graph.measures
    return (*parts, graph.elastic, graph.stated.prices)


def _are_alike(
    some: Sequence[LoadGraph], others: Sequence[LoadGraph], numbers: Collection[str]
) -> bool:
    """Tell whether graphs have the same formulas, and the same values of all but some numbers."""
    return len(some) == len(others) and all(
        _formulas(one) == _formulas(other)
        and one.assumptions.keys() == other.assumptions.keys()
        and all(
            name in numbers or a.value == other.assumptions[name].value
            for name, a in one.assumptions.items()
        )
        for one, other in zip(some, others, strict=True)
    )
