"""What would help: single changes of a configuration, and the largest population each gives.

The three ways are those of Claypool 1997, section 2.4.1: increasing capacity (better, more or
special hardware), decreasing the demand, and shifting demand from a component that is short of
capacity to one that has some left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.configure.cases import scaled
from qps.compiler.configure.configuration import Configuration, changed, counted_by, in_each_mode
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.load_graph import Assumption, Criterion, LoadGraph
from qps.compiler.lower.losses_in_series import known_at
from qps.compiler.lower.lowering import lower
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.dimension import TIME
from qps.engine.formulas import Formula, number
from qps.engine.points import in_floats
from qps.engine.substitution import Substitution
from qps.solver.answers.answer_certainty import largest_known
from qps.solver.answers.answering import all_criteria, largest_acceptable
from qps.solver.answers.capacity import excess
from qps.solver.answers.solution import FirstFailure, Solution, Verdict
from qps.solver.search.certain_signs import sign_of

_MORE = 2
_A_LITTLE = Fraction(1, 10)
_MOST_OF_A_KIND = 3
_NOTICEABLE = 0.005
"""A part of a resource's capacity; a load that rises by less has not taken over demand."""


class Way(Enum):
    """How a change helps."""

    CAPACITY = "more capacity"
    DEMAND = "less demand"
    SHIFT = "demand moved elsewhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A change that helps, and the largest acceptable population with it.

    `change` is what to write behind `with` or `--set` where it can be written so, else it
    says in words what to do. Where demand is moved, `to` is the resource that takes most of
    it over and `headroom` what that has left then, at the population of the answer so far.
    `known` is how the population is known.
    """

    way: Way
    change: str
    is_setting: bool
    largest_acceptable: int
    is_range: bool
    to: str | None = None
    headroom: float | None = None
    known: Certainty = EXACT


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A change to try: to the configuration, or to the lowered graph."""

    text: str
    configuration: Configuration
    is_capacity: bool
    is_setting: bool = True
    doubled: frozenset[str] = frozenset()
    """The number of the graph that is doubled."""
    halved: frozenset[str] = frozenset()
    """The costs of the graph that are halved, as on a core that is twice as fast."""
    moved: tuple[str, Fraction] | None = None
    """The one number of the graph that another one takes the place of, in every mode."""


def advise(model: ir.Model, configuration: Configuration, solution: Solution) -> tuple[Advice, ...]:
    """Return the changes that help most, three of each way at most, the best first.

    Empty where the system does not limit the population: there is nothing to help.
    """
    if solution.verdict is Verdict.RANGE:
        return ()
    trials = _Trials(model, configuration, solution)
    found: dict[Way, list[Advice]] = {way: [] for way in Way}
    for candidate in _candidates(model, configuration, solution):
        if _takes_from_a_mode(model, configuration, candidate):
            continue
        advice = trials.tried(candidate, found)
        if advice is not None:
            of_its_way = [*found[advice.way], advice]
            of_its_way.sort(key=lambda a: (-a.largest_acceptable, a.change))
            found[advice.way] = of_its_way[:_MOST_OF_A_KIND]
    return tuple(advice for way in Way for advice in found[way])


# -- what can be tried -------------------------------------------------------------------


_OF_ALL = (ir.SetPopulation, ir.SetCase)
"""Changes that name no single part of the model."""


def _takes_from_a_mode(
    model: ir.Model, configuration: Configuration, candidate: _Candidate
) -> bool:
    """Return whether a candidate changes what a mode changes: that is what its users do.

    Set, it would win over the mode; what the user has set already does so anyway.
    """
    known = configuration.explicit
    set_before = {change.name for change in known if not isinstance(change, _OF_ALL)}
    tried = candidate.configuration.explicit[len(known) :]
    return any(
        own.name == change.name and own.name not in set_before and not _is_same(own, change)
        for settled in in_each_mode(model, configuration)
        for own in settled.mode_changes
        for change in tried
        if not isinstance(own, _OF_ALL) and not isinstance(change, _OF_ALL)
    )


def _is_same(one: ir.Change, other: ir.Change) -> bool:
    match one, other:
        case ir.SetOption(_, choice), ir.SetOption(_, chosen):
            return choice == chosen
        case ir.SetPlace(_, kind, count), ir.SetPlace(_, placed, many):
            return (kind, count) == (placed, many)
    return False


def _candidates(
    model: ir.Model, configuration: Configuration, solution: Solution
) -> Iterator[_Candidate]:
    involved = _involved(solution)
    places = {assumption.name.split(".")[0] for assumption in involved}
    # A machine of one core has no number of its own; what loads it tells.
    numbers = {assumption.symbol for assumption in involved}
    places |= {
        name.split(".")[0]
        for name, resource in solution.graph.resources.items()
        if resource.load.symbols & numbers
    }
    yield from _other_hardware(model, configuration, places)
    yield from _more_hardware(configuration, places)
    yield from _twice_as_many(model, configuration, involved)
    yield from _twice_as_fast(configuration, involved)
    yield from _faster_core(configuration, solution, involved)
    for option in model.options:
        for choice in option.choices:
            if choice != configuration.options[option.name]:
                change = ir.SetOption(option.name, choice, option.span)
                settled = changed(configuration, [change])
                yield _Candidate(
                    text=f"{option.name} = {choice}", configuration=settled, is_capacity=False
                )
    yield from _parameters(model, configuration, solution)


def _involved(solution: Solution) -> list[Assumption]:
    """Return the numbers that what limits the answer rests on."""
    graph = solution.graph
    named = [c for c in all_criteria(graph) if c.name == solution.limited_by]
    free = set[Formula]().union(*(excess(criterion).symbols for criterion in named))
    return [a for a in graph.assumptions.values() if a.symbol in free]


def _other_hardware(
    model: ir.Model, configuration: Configuration, places: set[str]
) -> Iterator[_Candidate]:
    """Yield each place that is involved with every other machine or network in it."""
    for node in configuration.nodes.values():
        if node.name in places:
            for name in model.machines:
                if name != node.machine:
                    yield _placed(configuration, node.name, name, node.span)
    for link in configuration.links.values():
        if link.name in places:
            for name in model.networks:
                if name != link.network:
                    yield _placed(configuration, link.name, name, link.span)


def _placed(configuration: Configuration, place: str, kind: str, span: Span) -> _Candidate:
    change = ir.SetPlace(place, kind, None, span)
    return _Candidate(
        text=f"{place} = {kind}", configuration=changed(configuration, [change]), is_capacity=True
    )


def _more_hardware(configuration: Configuration, places: set[str]) -> Iterator[_Candidate]:
    """Yield each place that is involved with twice as many machines or networks in it."""
    for node in configuration.nodes.values():
        if node.name in places and isinstance(node.count, ir.Constant):
            yield _replicated(configuration, node.name, node.machine, node.count, node.span)
    for link in configuration.links.values():
        if link.name in places and isinstance(link.count, ir.Constant):
            yield _replicated(configuration, link.name, link.network, link.count, link.span)


def _replicated(
    configuration: Configuration, place: str, kind: str, count: ir.Constant, span: Span
) -> _Candidate:
    more = count.value * _MORE
    change = ir.SetPlace(place, kind, ir.Constant(more), span)
    settled = changed(configuration, [change])
    return _Candidate(text=f"{place} = {kind} * {more}", configuration=settled, is_capacity=True)


def _twice_as_many(
    model: ir.Model, configuration: Configuration, involved: list[Assumption]
) -> Iterator[_Candidate]:
    """Yield each parameter that is a count and involved, doubled."""
    known = {parameter.name: parameter for parameter in model.parameters}
    for name in sorted(counted_by(configuration) & {assumption.name for assumption in involved}):
        value = configuration.parameters.get(name)
        if isinstance(value, ir.Constant) and _is_within(known[name], value.value * _MORE):
            more = value.value * _MORE
            change = ir.SetParameter(name, ir.Constant(more), known[name].span)
            settled = changed(configuration, [change])
            yield _Candidate(text=f"{name} = {more}", configuration=settled, is_capacity=True)


def _is_within(parameter: ir.Parameter, value: Fraction) -> bool:
    """Tell whether a value is in the range of a parameter."""
    low, high = (
        bound.value if isinstance(bound, ir.Constant) else None
        for bound in (parameter.low, parameter.high)
    )
    return (low is None or low <= value) and (high is None or value <= high)


def _twice_as_fast(
    configuration: Configuration, involved: list[Assumption]
) -> Iterator[_Candidate]:
    for assumption in involved:
        if assumption.is_capacity:
            yield _Candidate(
                text=f"twice the {assumption.name}",
                configuration=configuration,
                is_capacity=True,
                is_setting=False,
                doubled=frozenset({assumption.name}),
            )


def _faster_core(
    configuration: Configuration, solution: Solution, involved: list[Assumption]
) -> Iterator[_Candidate]:
    """Yield cores twice as fast for what is bound to one thread, where no rating tells of it.

    A thread, `server.cpu.main`, gains nothing by more cores. All costs there halve; where they
    are also costs elsewhere, no one machine can be told to be faster.
    """
    resources = solution.graph.resources
    thread = (solution.limited_by or "").removesuffix(".load")
    owner = thread.rpartition(".")[0]
    if owner not in resources or thread not in resources or any(a.is_capacity for a in involved):
        return
    here, elsewhere = set[Formula](), set[Formula]()
    for name, resource in resources.items():
        is_here = name == owner or name.startswith(f"{owner}.")
        (here if is_here else elsewhere).update(resource.load.symbols)
    costs = [a for a in solution.graph.assumptions.values() if a.symbol in here and _is_cost(a)]
    if costs and not any(cost.symbol in elsewhere for cost in costs):
        yield _Candidate(
            text=f"cores twice as fast for {owner}",
            configuration=configuration,
            is_capacity=True,
            is_setting=False,
            halved=frozenset(cost.name for cost in costs),
        )


def _is_cost(assumption: Assumption) -> bool:
    """Return whether a number is time for each of an item."""
    each = TIME / assumption.dimension
    return each.single_base is not None


def _times(graph: LoadGraph, names: Collection[str], factor: Fraction) -> LoadGraph:
    """Return a graph with some of its numbers multiplied."""
    known = graph.assumptions.items()
    return graph.with_values({name: a.value * factor for name, a in known if name in names})


def _parameters(
    model: ir.Model, configuration: Configuration, solution: Solution
) -> Iterator[_Candidate]:
    """Yield each parameter 10 % up or down, as it helps, within its range."""
    graph = solution.graph
    # A wider limit is no less demand, it is to be content with less.
    given_up = numbers_of_limits(graph)
    elasticity = {
        s.parameter: s.elasticity for s in solution.sensitivity if s.parameter not in given_up
    }
    known = {parameter.name: parameter for parameter in model.parameters}
    counts = counted_by(configuration)
    capacities = {a.name for a in graph.assumptions.values() if a.is_capacity}
    for name, effect in _of_all_kinds(elasticity, configuration).items():
        parameter = known.get(name)
        if parameter is None or effect == 0:
            continue
        if "." in name or name in capacities or name in counts:
            continue  # what a module states is a fact; capacity and counts were doubled above
        factor = 1 + _A_LITTLE if effect > 0 else 1 - _A_LITTLE
        changes = scaled(configuration.parameters, name, factor, parameter.span)
        word = "more" if effect > 0 else "less"
        if not changes or not all(_is_within(parameter, v) for c in changes for v in _numbers(c)):
            continue
        settled = changed(configuration, changes)
        yield _Candidate(
            text=f"10 % {word} {name}",
            configuration=settled,
            is_capacity=False,
            is_setting=False,
            moved=_moved_number(changes),
        )


def _moved_number(changes: Sequence[ir.SetParameter]) -> tuple[str, Fraction] | None:
    """Return the one number that changes set, None where they set more than a number."""
    if len(changes) != 1 or not isinstance(changes[0].value, ir.Constant):
        return None
    return changes[0].name, changes[0].value.value


def numbers_of_limits(graph: LoadGraph) -> set[str]:
    """Return the numbers that limits and targets rest on, and no load does."""
    limits = set[Formula]().union(*(criterion.limit.symbols for criterion in graph.criteria))
    # What elastic parameters leave rests on limits; what loads them does not.
    loads = set[Formula]().union(*(r.unsettled.symbols for r in graph.resources.values()))
    return {symbol.name for symbol in limits - loads}


def _of_all_kinds(elasticity: dict[str, float], configuration: Configuration) -> dict[str, float]:
    """Return elasticities with those of parameters by kinds: of all their kinds together."""
    joined = dict(elasticity)
    for name, value in configuration.parameters.items():
        kinds = [k.parameter for k in value.kinds] if isinstance(value, ir.Mixture) else []
        if any(kind in elasticity for kind in kinds):
            joined[name] = sum(elasticity.get(one, 0.0) for one in (name, *kinds))
    return dict(sorted(joined.items(), key=lambda item: -abs(item[1])))


def _numbers(change: ir.SetParameter) -> list[Fraction]:
    """Return the numbers that a parameter is set to: one, or one for each case."""
    return [part.value for part in parts_of(change.value) if isinstance(part, ir.Constant)]


# -- what each gives ---------------------------------------------------------------------


@dataclass
class _Trials:
    """Tries changes; what they are applied to is lowered once."""

    model: ir.Model
    configuration: Configuration
    solution: Solution
    _graphs: dict[object, LoadGraph] = field(default_factory=dict)

    def tried(self, candidate: _Candidate, best: dict[Way, list[Advice]]) -> Advice | None:
        """Return what a change gives.

        None where it does not help, cannot be, or helps less than the best of its way.
        """
        try:
            if self._surely_helps_less(candidate, best):
                return None
            sink = Sink()
            check_placement(self.model, candidate.configuration, sink)
            return None if sink.has_errors else self._helping(candidate, best)
        except QpsError:
            return None  # a change that the model cannot answer is no advice

    def _surely_helps_less(self, candidate: _Candidate, best: dict[Way, list[Advice]]) -> bool:
        """Return whether a change of one number is told to be none of the best, without lowering.

        Formulas are the same with another number where no condition and no elastic parameter asks
        for it, and no limit, which may be the ideal itself, rests on it.
        """
        if candidate.moved is None:
            return False
        name, value = candidate.moved
        graphs = []
        for settled in in_each_mode(self.model, self.configuration):
            graph = self._lowered(settled)
            known = graph.assumptions.get(name)
            if known is None or not _keeps_its_formulas(graph, known):
                return False
            graphs.append(graph.with_values({name: number(value)}))
        return self._way_among_the_best(candidate, graphs, best) is None

    @property
    def _now(self) -> int:
        return self.solution.largest_acceptable or self.solution.graph.low - 1

    def _helping(self, candidate: _Candidate, best: dict[Way, list[Advice]]) -> Advice | None:
        graphs = [
            _times(
                _times(self._lowered(settled), candidate.doubled, Fraction(_MORE)),
                candidate.halved,
                Fraction(1, _MORE),
            )
            for settled in in_each_mode(self.model, candidate.configuration)
        ]
        told = self._way_among_the_best(candidate, graphs, best)
        if told is None:
            return None
        way, to, headroom = told
        largest = min(largest_acceptable(graph) or 0 for graph in graphs)
        if largest <= self._now:
            return None
        is_range = largest == self.solution.graph.high
        known = _known(graphs, largest)
        text, is_setting = candidate.text, candidate.is_setting
        return Advice(
            way=way,
            change=text,
            is_setting=is_setting,
            largest_acceptable=largest,
            is_range=is_range,
            to=to,
            headroom=headroom,
            known=known,
        )

    def _way_among_the_best(
        self, candidate: _Candidate, graphs: Sequence[LoadGraph], best: dict[Way, list[Advice]]
    ) -> tuple[Way, str | None, float | None] | None:
        """Return how a change helps, to where demand moves and what is left there.

        None where it does not help, or less than the best of its way. To be acceptable at one
        population is told sooner than up to where it is.
        """
        if not _acceptable(graphs, self._now + 1):
            return None
        way: tuple[Way, str | None, float | None] = Way.CAPACITY, None, None
        if not candidate.is_capacity:
            solution = self.solution
            same = next(graph for graph in graphs if graph.mode == solution.graph.mode)
            way = _moved(solution.graph, same, solution.at)
        if len(best[way[0]]) == _MOST_OF_A_KIND:
            last = best[way[0]][-1]
            least = last.largest_acceptable + (candidate.text > last.change)
            if not _acceptable(graphs, least):
                return None
        return way

    def _lowered(self, configuration: Configuration) -> LoadGraph:
        key = configuration.key
        if key not in self._graphs:
            self._graphs[key] = lower(self.model, configuration)
        return self._graphs[key]


def _keeps_its_formulas(graph: LoadGraph, number: Assumption) -> bool:
    """Return whether the formulas of a graph are the same, whatever value a number has."""
    if number.name in graph.decided or graph.elastic:
        return False
    limits = (criterion.limit for criterion in graph.criteria)
    return not any(number.symbol in limit.symbols for limit in limits)


def _acceptable(graphs: Sequence[LoadGraph], population: int) -> bool:
    """Return whether a population is acceptable in all modes."""
    return not any(
        _fails(criterion, graph, population)
        for graph in graphs
        for criterion in all_criteria(graph)
    )


def _fails(criterion: Criterion, graph: LoadGraph, population: int) -> bool:
    # All numbers at once: a formula in the population alone takes much longer to make.
    sign = sign_of(excess(criterion), graph.at(population))
    return sign is None or sign > 0 or (criterion.strict and sign == 0)


def _known(graphs: Sequence[LoadGraph], largest: int) -> Certainty:
    """Return how the largest acceptable population of all modes is known."""
    judged = [(graph, criterion) for graph in graphs for criterion in all_criteria(graph)]
    if all(one.known.is_exact and one.known_in_series.is_exact for _, one in judged):
        return EXACT
    beyond = largest + 1
    failures = [
        FirstFailure(one, beyond, known_at(graph, one, beyond))
        if beyond <= graph.high and _fails(one, graph, beyond)
        else FirstFailure(one, None)
        for graph, one in judged
    ]
    return largest_known(failures, graphs[0].low)


def _moved(before: LoadGraph, after: LoadGraph, at: int) -> tuple[Way, str | None, float | None]:
    """Tell whether demand was taken away or moved: to where, and what is left there."""
    rises = {}
    # Elastic parameters take what is freed: at the rates of before, what was moved shows.
    held = {
        one.parameter.symbol: before.at(at).constant(one.value)
        for one in (*after.elastic, *before.elastic)
    }
    loads = _loads(after, at, held)
    old = _loads(before, at, held)
    for name, load in loads.items():
        rise = load - old.get(name, 0.0)
        if rise > _NOTICEABLE:
            rises[name] = rise
    if not rises or not any(loads.get(name, 0.0) < load for name, load in old.items()):
        return Way.DEMAND, None, None
    to = max(rises, key=lambda name: rises[name])
    return Way.SHIFT, to, after.at(at).number(after.resources[to].target) - loads[to]


def _loads(graph: LoadGraph, at: int, held: dict[Formula, Formula]) -> dict[str, float]:
    put_in = Substitution(graph.values | held | {graph.population: number(at)})
    return {name: in_floats(put_in(r.unsettled)) for name, r in graph.resources.items()}
