"""Load graphs with all that a page needs to answer for them by itself, as typed values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.bounded_value import Bounded
from qps.compiler.configure.configuration import Configuration, counted_by
from qps.compiler.configure.settable_numbers import settable_numbers
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.lower.load_graph import Assumption, Criterion, LoadGraph
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.capacity import excess, excess_shown
from qps.solver.answers.graph_criteria import all_criteria, has_endless_value, rests_on_users
from qps.solver.answers.impossible_values import impossible
from qps.solver.answers.saturation import is_filled
from qps.solver.details.request_path import Path, path_of, timed_stream
from qps.solver.variants.changed_labels import changed_labels
from qps.solver.variants.incident_formulas import FormulaTree, incident_formulas
from qps.solver.variants.selects import Picks
from qps.solver.variants.variant_guards import VariantGuard, guards_of
from qps.solver.what_if.available_changes import is_assumed, is_of_a_kind
from qps.solver.what_if.candidates import numbers_of_limits


class VariantNumber(Struct, frozen=True, kw_only=True):
    """A number that a graph rests on, and what it is to a reader who would change it.

    It is `bounded` where values of it may make no model. Nobody moves what `is_decided`: other
    values give other formulas; what `is_external` is assumed, or fitted to what was measured. It
    `is_limit` where limits and targets rest on it and no load does, `is_need` where it is a limit
    or an ideal that a requirement states. `--set` takes its name where it `is_set_by_name`. One
    that `counts_places` says how many machines or networks there are.
    """

    assumption: Assumption
    bounded: Bounded | None
    is_decided: bool
    is_input: bool
    is_limit: bool
    is_need: bool
    is_set_by_name: bool
    counts_places: bool


class CriterionExcess(Struct, frozen=True, kw_only=True):
    """A criterion with what is above zero where it fails: `over`, of the value that is judged.

    `over_shown` is that of the value that is shown, None where it is the same. It judges the
    utilization of a `resource`, where nobody states it.
    """

    criterion: Criterion
    over: Formula
    over_shown: Formula | None
    resource: str | None


class CriteriaGraph(Struct, frozen=True, kw_only=True):
    """A load graph with its criteria, quality as the last, and the paths of its streams."""

    graph: LoadGraph
    criteria: tuple[CriterionExcess, ...]
    paths: Mapping[str, Path]


class ChangedGraph(Struct, frozen=True):
    """A graph with labels that hold for all numbers, for use where one of `numbers` is changed."""

    criteria_graph: CriteriaGraph
    numbers: tuple[str, ...]


class VariantGraph(Struct, frozen=True, kw_only=True):
    """The load graph of a variant in a mode, and what a page needs to answer for it.

    Of the resources in `filled` an elastic parameter takes what is left. What is `impossible`
    cannot be where its formula is above zero. The page draws the path of the `drawn` stream.
    """

    criteria_graph: CriteriaGraph
    rests_on_users: bool
    numbers: tuple[VariantNumber, ...]
    filled: frozenset[str]
    impossible: tuple[tuple[Formula, str], ...]
    guards: tuple[VariantGuard, ...]
    changed: tuple[ChangedGraph, ...]
    drawn: str | None
    incidents: FormulaTree = None
    """What the incidents of the spec follow from; None without any."""

    @property
    def graph(self) -> LoadGraph:
        """The load graph."""
        return self.criteria_graph.graph


class Variant(Struct, frozen=True, kw_only=True):
    """A combination with its graphs, one for each mode.

    `relevant` are the selects that matter.
    `is_start` where a reader can start from it: no page does without.
    """

    shape: int
    picks: Picks
    relevant: frozenset[int]
    is_start: bool
    graphs: tuple[VariantGraph, ...]


def variant_graph(
    model: ir.Model, configuration: Configuration, graph: LoadGraph, elastic: Collection[str]
) -> VariantGraph:
    """Return a graph of a configuration, complete; what is `elastic` in a mode of its variant.

    A number that a mode makes of that cannot be moved: `--set` would set it in the others, too.
    """
    guards = guards_of(model, configuration, graph)
    others = changed_labels(model, configuration, graph, guards)
    numbers = _numbers(model, configuration, graph, guards.of_numbers, elastic)
    return VariantGraph(
        criteria_graph=_criteria_graph(graph),
        rests_on_users=rests_on_users(graph),
        numbers=tuple(numbers),
        filled=frozenset(name for name in graph.resources if is_filled(graph, name)),
        impossible=tuple((over, text) for over, text, _ in impossible(graph) if over.symbols),
        guards=guards.others,
        changed=tuple(ChangedGraph(_criteria_graph(one.graph), one.numbers) for one in others),
        drawn=timed_stream(graph),
        incidents=incident_formulas(model, configuration, graph) if model.incidents else None,
    )


def _criteria_graph(graph: LoadGraph) -> CriteriaGraph:
    loads = {utilization_of(name): name for name in graph.resources}
    return CriteriaGraph(
        graph=graph,
        criteria=tuple(
            CriterionExcess(
                criterion=one,
                over=excess(one),
                over_shown=excess_shown(one) if has_endless_value(graph, one) else None,
                resource=None if one.span is not None else loads.get(one.name),
            )
            for one in all_criteria(graph)
        ),
        paths={name: path_of(one, graph.network) for name, one in graph.streams.items()},
    )


def _numbers(
    model: ir.Model,
    configuration: Configuration,
    graph: LoadGraph,
    bounded: Mapping[Span, Bounded],
    elastic: Collection[str],
) -> Iterator[VariantNumber]:
    declared = {parameter.name: parameter for parameter in model.parameters}
    limits, needs = numbers_of_limits(graph), _needs(graph)
    settable, places = settable_numbers(model, configuration), counted_by(configuration)
    for one in graph.assumptions.values():
        name = one.name
        yield VariantNumber(
            assumption=one,
            bounded=bounded.get(one.span),
            is_decided=name in elastic
            or name in graph.basis.decided
            or _is_mixed(model, name, graph),
            is_input=is_external(model, declared.get(name), name),
            is_limit=name in limits,
            is_need=name in needs,
            is_set_by_name=settable.get(name) == one.fraction or name in declared,
            counts_places=name in places,
        )


def is_external(model: ir.Model, declared: ir.Parameter | None, name: str) -> bool:
    """Return whether a number is nobody's to change."""
    return (declared is not None and is_assumed(declared)) or is_of_a_kind(model, name)


def _is_mixed(model: ir.Model, name: str, graph: LoadGraph) -> bool:
    """Return whether a parameter counts in other numbers too: by kinds, or in another case."""
    kinds = {
        parameter.name: [kind.parameter for kind in parameter.value.classes]
        for parameter in model.parameters
        if isinstance(parameter.value, ir.Mixture)
    }
    others = [*(f"{name}.{case.value}" for case in ir.Case), *kinds.get(name, [])]
    is_kind = any(name in own for own in kinds.values())
    return is_kind or any(other in graph.assumptions for other in others)


def _needs(graph: LoadGraph) -> set[str]:
    """Return the names of the limits and ideals that requirements state."""
    stated = [one.name for one in graph.criteria if one.span is not None]
    return {f"{what} of {name}" for name in stated for what in ("limit", "ideal")}
