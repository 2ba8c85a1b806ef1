"""What can be tried to help: single changes of a configuration, or of numbers of its graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import floor

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.configure.cases import scaled
from qps.compiler.configure.configuration import Configuration, changed, counted_by, in_each_mode
from qps.compiler.configure.settable_numbers import places_of_numbers
from qps.compiler.ir.measure_names import resource_in
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.load_graph import Assumption, LoadGraph
from qps.compiler.quantities.dimension import TIME, TIME_BASE
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.answer_parts import ChangeKind, SpecRewrite
from qps.solver.answers.capacity import excess
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.solution import Solution
from qps.solver.what_if.available_changes import is_assumed, kinds_at_hand

_MORE = 2
_A_LITTLE = Fraction(1, 10)


class Candidate(Struct, frozen=True, kw_only=True):
    """A change to try: to the configuration, or to the lowered graph.

    `name` is what it changes: a place, an option or a number, which becomes `factor` times as much.
    A goal (`is_goal`) is what is required, which changes nothing of the system.
    """

    name: str
    text: str
    configuration: Configuration
    is_capacity: bool
    is_goal: bool = False
    is_setting: bool = True
    factor: Fraction | None = None
    factors: Mapping[str, Fraction] = field(default_factory=dict)
    """Numbers of the graph that are multiplied: a capacity, or costs as on a faster core."""
    kind: ChangeKind | None = None
    """How it helps; None where that follows from what it changes."""
    to: str | None = None
    """The resource that demand is moved to, where it is of that `kind`."""
    rewrite: SpecRewrite | None = None
    rewritten: ir.Model | None = None
    """The model with a `rewrite`."""
    together: tuple[Candidate, ...] = ()
    """The changes that are made together, where it is several."""


_OF_ALL = (ir.SetPopulation, ir.SetCase)
"""Changes that name no single part of the model."""


def changes_mode(model: ir.Model, configuration: Configuration, candidate: Candidate) -> bool:
    """Return whether a candidate changes what a mode changes: that is what its users do.

    Set, it would win over the mode; what the user has set already does so anyway.
    """
    known = configuration.explicit
    set_before = {change.name for change in known if not isinstance(change, _OF_ALL)}
    tried = candidate.configuration.explicit[len(known) :]
    return any(
        own.name == change.name and own.name not in set_before and not _is_same(own, change)
        for mode in in_each_mode(model, configuration)
        for own in mode.mode_changes
        for change in tried
        if not isinstance(own, (*_OF_ALL, ir.LoseMachines)) and not isinstance(change, _OF_ALL)
    )


def _is_same(one: ir.Change, other: ir.Change) -> bool:
    match one, other:
        case ir.SetOption(_, choice), ir.SetOption(_, chosen):
            return choice == chosen
        case ir.SetPlace(_, kind, count), ir.SetPlace(_, placed, many):
            return (kind, count) == (placed, many)
    return False


def candidates(
    model: ir.Model, configuration: Configuration, solution: Solution
) -> Iterator[Candidate]:
    """Yield the changes that may help: other, more and faster hardware, options, parameters."""
    involved = involved_numbers(solution)
    places = involved_places(model, configuration, solution, involved)
    for change in _hardware(model, configuration):
        if change.name in places:
            yield _set(configuration, change, f"{change.name} = {change.kind}")
    yield from _twice_as_many_machines(model, configuration, places, involved)
    yield from _twice_as_fast(model, configuration, involved)
    yield from _faster_core(configuration, solution, involved)
    for option in model.options:
        for choice in () if is_assumed(option) else option.choices:
            if choice != configuration.options[option.name]:
                chosen = ir.SetOption(option.name, choice, option.span)
                yield _set(configuration, chosen, f"{option.name} = {choice}", is_capacity=False)
    yield from _parameters(model, configuration, solution)


def more_machines(
    model: ir.Model, configuration: Configuration, solution: Solution
) -> Iterator[Candidate]:
    """Yield twice as many machines or networks where the limit is.

    That is the place of the resource that is full, or each that a requirement rests on.
    """
    involved = involved_numbers(solution)
    resource = resource_in(solution.limited_by or "")
    if resource in solution.graph.resources:
        places = {solution.graph.network.place_of(resource)}
        counting = {
            part.name
            for place in (configuration.place(one) for one in places)
            for part in parts_of(place.count)
            if isinstance(part, ir.ParameterValue)
        }
        involved = [one for one in involved if one.name in counting]
    else:
        places = involved_places(model, configuration, solution, involved)
    yield from _twice_as_many_machines(model, configuration, places, involved)


def _twice_as_many_machines(
    model: ir.Model,
    configuration: Configuration,
    places: set[str],
    involved: list[Assumption],
) -> Iterator[Candidate]:
    yield from _more_hardware(configuration, places)
    yield from _twice_as_many(model, configuration, involved)


def _set(
    configuration: Configuration,
    change: ir.SetOption | ir.SetPlace | ir.SetParameter,
    text: str,
    *,
    is_capacity: bool = True,
    factor: Fraction | None = None,
) -> Candidate:
    """Return what can be set, in words that can be written so."""
    changed_configuration = changed(configuration, [change])
    return Candidate(
        name=change.name,
        text=text,
        configuration=changed_configuration,
        is_capacity=is_capacity,
        factor=factor,
    )


def involved_numbers(solution: Solution) -> list[Assumption]:
    """Return the numbers that what limits the answer rests on."""
    graph = solution.graph
    named = [c for c in all_criteria(graph) if c.name == solution.limited_by]
    free = set[Formula]().union(*(excess(criterion).symbols for criterion in named))
    return [a for a in graph.assumptions.values() if a.symbol in free]


def involved_places(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    involved: Sequence[Assumption],
) -> set[str]:
    """Return the places that numbers are of, or that they load."""
    of_numbers = places_of_numbers(model, configuration)
    places = {of_numbers[one.name] for one in involved if one.name in of_numbers}
    # A machine of one core has no number of its own; what loads it says so.
    numbers = {assumption.symbol for assumption in involved}
    return places | {
        solution.graph.network.place_of(name)
        for name, resource in solution.graph.resources.items()
        if resource.load.symbols & numbers
    }


def _hardware(model: ir.Model, configuration: Configuration) -> Iterator[ir.SetPlace]:
    """Yield what could stand in each place instead."""
    places: list[ir.Node | ir.Link] = [*configuration.nodes.values()]
    for place in (*places, *configuration.links.values()):
        for name in kinds_at_hand(model, configuration, place.name):
            yield ir.SetPlace(place.name, name, None, place.span)


def _more_hardware(configuration: Configuration, places: set[str]) -> Iterator[Candidate]:
    """Yield each place that is involved with twice as many machines or networks in it."""
    standing: list[tuple[ir.Node | ir.Link, str]] = []
    standing += [(node, node.machine) for node in configuration.nodes.values()]
    standing += [(link, link.network) for link in configuration.links.values()]
    for place, kind in standing:
        if place.name in places and isinstance(place.count, ir.Constant):
            more = place.count.value * _MORE
            change = ir.SetPlace(place.name, kind, ir.Constant(more), place.span)
            yield _set(configuration, change, f"{place.name} = {kind} * {more}")


def _twice_as_many(
    model: ir.Model, configuration: Configuration, involved: list[Assumption]
) -> Iterator[Candidate]:
    """Yield each parameter that is a count and involved, doubled."""
    known = {parameter.name: parameter for parameter in model.parameters}
    for name in sorted(counted_by(configuration) & {assumption.name for assumption in involved}):
        value = configuration.parameters.get(name)
        if is_assumed(known[name]):
            continue
        if isinstance(value, ir.Constant) and is_within(known[name], value.value * _MORE):
            more = value.value * _MORE
            change = ir.SetParameter(name, ir.Constant(more), known[name].span)
            yield _set(configuration, change, f"{name} = {more}", factor=Fraction(_MORE))


def is_within(parameter: ir.Parameter, value: Fraction) -> bool:
    """Tell whether a value is in the range of a parameter."""
    low, high = (
        bound.value if isinstance(bound, ir.Constant) else None
        for bound in (parameter.low, parameter.high)
    )
    return (low is None or low <= value) and (high is None or value <= high)


def _twice_as_fast(
    model: ir.Model, configuration: Configuration, involved: list[Assumption]
) -> Iterator[Candidate]:
    assumed = {parameter.name for parameter in model.parameters if is_assumed(parameter)}
    for assumption in involved:
        if assumption.is_capacity and assumption.name not in assumed:
            yield Candidate(
                name=assumption.name,
                text=f"twice the {assumption.name}",
                configuration=configuration,
                is_capacity=True,
                is_setting=False,
                factor=Fraction(_MORE),
                factors={assumption.name: Fraction(_MORE)},
            )


def _faster_core(
    configuration: Configuration, solution: Solution, involved: list[Assumption]
) -> Iterator[Candidate]:
    """Yield cores twice as fast for what is bound to one thread, where no rating describes it.

    A thread, `server.cpu.main`, gains nothing by more cores. All costs there halve; where they
    are also costs elsewhere, no one machine can be made faster.
    """
    resources = solution.graph.resources
    thread = resource_in(solution.limited_by or "")
    owner = thread.rpartition(".")[0]
    if owner not in resources or thread not in resources or any(a.is_capacity for a in involved):
        return
    here, elsewhere = set[Formula](), set[Formula]()
    for name, resource in resources.items():
        is_here = name == owner or name.startswith(f"{owner}.")
        (here if is_here else elsewhere).update(resource.load.symbols)
    costs = [a for a in solution.graph.assumptions.values() if a.symbol in here and is_cost(a)]
    if costs and not any(cost.symbol in elsewhere for cost in costs):
        yield Candidate(
            name=owner,
            text=f"cores twice as fast for {owner}",
            configuration=configuration,
            is_capacity=True,
            is_setting=False,
            factors={cost.name: Fraction(1, _MORE) for cost in costs},
        )


def is_cost(assumption: Assumption) -> bool:
    """Return whether a number is time for each of an item."""
    each = TIME / assumption.dimension
    return each.single_base not in (None, TIME_BASE)  # a share is no time


def _parameters(
    model: ir.Model, configuration: Configuration, solution: Solution
) -> Iterator[Candidate]:
    """Yield each parameter 10 % up or down, as it helps, within its range."""
    graph = solution.graph
    # A wider limit is no less demand, it is to be content with less.
    given_up = numbers_of_limits(graph)
    elasticity = {
        s.parameter: s.elasticity for s in solution.sensitivity if s.parameter not in given_up
    }
    known = {parameter.name: parameter for parameter in model.parameters}
    counts = counted_by(configuration)
    # A profile has its values at their times: at one of them, it is no change of the system.
    profiles = {profile.name for profile in model.profiles}
    capacities = {a.name for a in graph.assumptions.values() if a.is_capacity}
    for name, effect in _of_all_kinds(elasticity, configuration).items():
        parameter = known.get(name)
        if parameter is None or effect == 0:
            continue
        if not parameter.is_own or is_assumed(parameter):
            continue  # what a module states is a fact
        if name in capacities or name in counts or name in profiles:
            continue  # what is counted is doubled above
        factor = _a_little(graph.assumptions.get(name), is_more=effect > 0)
        changes = scaled(configuration.parameters, name, factor, parameter.span)
        word = "more" if effect > 0 else "less"
        # One number, or one for each case.
        numbers = [n for c in changes for n in parts_of(c.value) if isinstance(n, ir.Constant)]
        if not changes or not all(is_within(parameter, n.value) for n in numbers):
            continue
        written = [graph.assumptions.get(one) for one in (name, *(c.name for c in changes))]
        is_count = any(one and one.counts_things for one in written)
        if is_count and not all(_is_some(n.value) for n in numbers):
            continue  # there is no half a thing, and none at all is no less of it
        if abs(factor - 1) != _A_LITTLE:
            yield _set(
                configuration,
                changes[0],
                f"{name} = {numbers[0].value}",
                is_capacity=False,
                factor=factor,
            )
            continue
        changed_configuration = changed(configuration, changes)
        yield Candidate(
            name=name,
            text=f"10 % {word} {name}",
            configuration=changed_configuration,
            is_capacity=False,
            is_setting=False,
            factor=factor,
        )


def _a_little(counted: Assumption | None, *, is_more: bool) -> Fraction:
    """Return how many times as much is a tenth more or less: of things the nearest whole one."""
    step = _A_LITTLE if is_more else -_A_LITTLE
    if counted is None or not counted.counts_things or not counted.fraction:
        return 1 + step
    many = max(1, floor(abs(step) * counted.fraction + Fraction(1, 2)))
    return 1 + (many if is_more else -many) / counted.fraction


def _is_some(value: Fraction) -> bool:
    return value > 0 and value.denominator == 1


def numbers_of_limits(graph: LoadGraph) -> set[str]:
    """Return the numbers that limits and targets rest on, and no load does."""
    limits = set[Formula]().union(*(criterion.limit.symbols for criterion in graph.criteria))
    # What elastic parameters leave rests on limits; what loads them does not.
    loads = set[Formula]().union(*(r.unresolved.symbols for r in graph.resources.values()))
    return {symbol.name for symbol in limits - loads}


def _of_all_kinds(elasticity: dict[str, float], configuration: Configuration) -> dict[str, float]:
    """Return elasticities with those of parameters by kinds: of all their kinds together."""
    joined = dict(elasticity)
    for name, value in configuration.parameters.items():
        kinds = [k.parameter for k in value.classes] if isinstance(value, ir.Mixture) else []
        if any(kind in elasticity for kind in kinds):
            joined[name] = sum(elasticity.get(one, 0.0) for one in (name, *kinds))
    return dict(sorted(joined.items(), key=lambda item: -abs(item[1])))
