"""A model with everything decided: options chosen, machines and networks in their places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.ir.changes import flattened
from qps.compiler.ir.parts import operands, parts_of
from qps.compiler.quantities.clock_times import mode_at
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.engine.operations import OPERATIONS

VARYING = (ir.Population, ir.NodeCount, ir.Members, ir.GroupCount)
"""What grows with the population, or may do so."""


class Configuration(Struct, frozen=True, kw_only=True):
    """What is in force: the choices, the values and the places of one run.

    `parameters` holds the expression of each parameter, `values_from` where it was set; `case`
    says which value counts of those that have several, `case_from` where it was set. What a
    mode changes is kept apart in `mode_changes`: see `in_force`. `explicit` holds the changes
    that were requested one by one: whatever a scenario or a mode changes, they win over it.
    `of_places` are the parameters that are numbers of what stands in a place, with that.
    """

    low: int
    high: int
    options: dict[str, str]
    parameters: dict[str, ir.Expr]
    values_from: dict[str, Span]
    nodes: dict[str, ir.Node]
    links: dict[str, ir.Link]
    groups: dict[str, ir.Group] = field(default_factory=dict)
    scenario: str | None = None
    mode: str | None = None
    mode_changes: tuple[ir.Change, ...] = ()
    case: ir.Case = ir.Case.AVERAGE
    case_from: Span | None = None
    explicit: tuple[ir.Change, ...] = ()
    of_places: Mapping[str, str] = {}

    def key(self, usual: Configuration) -> tuple[object, ...]:
        """Return a value that is equal for configurations of a model that solve alike.

        Numbers, and places, are named where they are not those of the `usual` configuration: there
        are many, and fractions take long to hash.
        """
        parameters, spans = usual.parameters, usual.values_from
        return (
            self.low,
            self.high,
            self.mode,
            self.case,
            tuple(self.options.items()),
            tuple((n, v) for n, v in self.parameters.items() if v is not parameters[n]),
            # An elastic parameter that is set to its most is no longer elastic.
            tuple(
                (name, span.source, span.start)
                for name, span in self.values_from.items()
                if span is not spans[name]
            ),
            tuple(
                (node.name, node.machine, node.count, node.own)
                for node in self.nodes.values()
                if node is not usual.nodes[node.name]
            ),
            tuple(
                (link.name, link.network, link.count, link.own)
                for link in self.links.values()
                if link is not usual.links[link.name]
            ),
            # The choice of the spec itself gives way to a mode, the same one requested does not.
            tuple((c.name, c.choice) for c in self.explicit if isinstance(c, ir.SetOption)),
            tuple((c.name, c.kind, c.count) for c in self.explicit if isinstance(c, ir.SetPlace)),
        )

    def place(self, name: str) -> ir.Node | ir.Link:
        """Return what stands in a place."""
        node = self.nodes.get(name)
        return self.links[name] if node is None else node


def base_configuration(model: ir.Model) -> Configuration:
    """Return the model as its spec states it."""
    return Configuration(
        low=model.population.low,
        high=model.population.high,
        options={option.name: option.choices[0] for option in model.options},
        parameters={parameter.name: parameter.value for parameter in model.parameters},
        values_from={parameter.name: parameter.value_span for parameter in model.parameters},
        nodes={node.name: node for node in model.nodes},
        links={link.name: link for link in model.links},
        groups={group.name: group for group in model.groups},
        of_places={p.name: p.place for p in model.parameters if p.place is not None},
    )


def with_scenarios(model: ir.Model, names: Sequence[str], sink: Sink) -> Configuration:
    """Return the model as scenarios change it together; an unknown one is reported."""
    configuration = base_configuration(model)
    known = {scenario.name: scenario for scenario in model.scenarios}
    for name in names:
        scenario = known.get(name)
        if names.count(name) > 1:
            sink.report(
                codes.BAD_SETTING,
                None,
                f"scenario `{name}` is applied twice",
                hint="remove one of them",
            )
            break
        if scenario is not None:
            change = ir.SetScenario(name, scenario.changes, scenario.span)
            configuration = changed(configuration, [change])
            continue
        sink.report(
            codes.BAD_SETTING,
            None,
            f"{model.file} has no scenario named `{name}`",
            hint=did_you_mean(name, list(known)) or f"declare it: `scenario {name} {{ … }}`",
        )
    return replace(configuration, scenario=", ".join(names) or None)


def in_each_mode(model: ir.Model, configuration: Configuration) -> tuple[Configuration, ...]:
    """Return a configuration in each mode; itself where there is none, or one was chosen.

    One that was chosen may be there at several moments of the day.
    """
    modes = model.modes
    if configuration.mode is not None:
        modes = tuple(one for one in modes if one.name.startswith(mode_at(configuration.mode, "")))
        if modes:
            rest = (one for one in configuration.explicit if not isinstance(one, ir.SetMode))
            configuration = replace(configuration, explicit=tuple(rest))
    if not modes:
        return (configuration,)
    return tuple(
        replace(configuration, mode=mode.name, mode_changes=mode.changes) for mode in modes
    )


def in_force(configuration: Configuration) -> Configuration:
    """Return a configuration with the changes of its mode made to it, below the explicit ones."""
    if not configuration.mode_changes:
        return configuration
    losses = [one for one in configuration.mode_changes if isinstance(one, ir.LoseMachines)]
    others = [one for one in configuration.mode_changes if not isinstance(one, ir.LoseMachines)]
    made = replace(_beneath(configuration, others), mode_changes=())
    # However many machines there are, some of them fail.
    for loss in losses:
        made = _build(made, loss)
    return made


def changed_by_modes(model: ir.Model, configuration: Configuration) -> set[str]:
    """Return the parameters that a mode has in force otherwise than they are outside of it."""
    outside = configuration.parameters
    return {
        name
        for each in in_each_mode(model, configuration)
        for name, value in in_force(each).parameters.items()
        if value is not outside[name] and value != outside[name]
    }


def changed(configuration: Configuration, changes: Iterable[ir.Change]) -> Configuration:
    """Return a configuration with explicit changes made to it, in their order.

    What a scenario among them changes gives way to all explicit changes, earlier and later ones.
    """
    for change in changes:
        if isinstance(change, ir.SetScenario):
            overlaid = _beneath(configuration, flattened(change.changes))
            configuration = replace(overlaid, scenario=change.name)
        else:
            made = _build(configuration, change)
            configuration = replace(made, explicit=(*configuration.explicit, change))
    return configuration


def with_drawn(configuration: Configuration, values: Mapping[str, Fraction]) -> Configuration:
    """Return a configuration with other values of numbers that are not known.

    They stay uncertain, and stand where they did: what a mode sets goes before them.
    """

    def drawn(name: str, value: ir.Expr) -> ir.Expr:
        is_drawn = isinstance(value, ir.Uncertain) and name in values
        return replace(value, value=values[name]) if is_drawn else value

    explicit = tuple(
        replace(change, value=drawn(change.name, change.value))
        if isinstance(change, ir.SetParameter)
        else change
        for change in configuration.explicit
    )
    parameters = {name: drawn(name, value) for name, value in configuration.parameters.items()}
    return replace(configuration, parameters=parameters, explicit=explicit)


def with_typical(configuration: Configuration) -> Configuration:
    """Return a configuration in which numbers that are not known are as answers have them."""
    known = {name: one.distribution.typical for name, one in uncertain_in(configuration).items()}
    return with_drawn(configuration, known) if known else configuration


def uncertain_in(configuration: Configuration) -> Mapping[str, ir.Uncertain]:
    """Return the parameters of which the value in force is not known."""
    parameters = configuration.parameters.items()
    return {name: value for name, value in parameters if isinstance(value, ir.Uncertain)}


def uncertain_in_any_mode(
    model: ir.Model, configuration: Configuration
) -> Mapping[str, ir.Uncertain]:
    """Return the parameters of which the value in force is not known, in one mode or another."""
    return {
        name: value
        for each in in_each_mode(model, configuration)
        for name, value in uncertain_in(in_force(each)).items()
    }


def _beneath(configuration: Configuration, changes: Iterable[ir.Change]) -> Configuration:
    """Return a configuration with changes made to it, and then the explicit ones once more."""
    for change in (*changes, *configuration.explicit):
        configuration = _build(configuration, change)
    return configuration


def _build(configuration: Configuration, change: ir.Change) -> Configuration:
    match change:
        case ir.SetPopulation(low, high):
            return replace(configuration, low=low, high=high)
        case ir.SetOption(name, choice):
            return replace(configuration, options=configuration.options | {name: choice})
        case ir.SetParameter():
            return _set(configuration, change)
        case ir.SetCase(case, span):
            return replace(configuration, case=case, case_from=span)
        case ir.SetPlace():
            return _placed(configuration, change)
        case ir.LoseMachines():
            return _lost(configuration, change)
        case ir.SetMode(name, own):
            return replace(configuration, mode=name, mode_changes=own)
        case ir.SetScenario():
            raise AssertionError("what a scenario changes is made one by one")


def is_in_place(parameter: ir.Parameter, configuration: Configuration) -> bool:
    """Return whether a parameter counts: as a number of a place it does where it is set there."""
    if parameter.place is None:
        return True
    own = configuration.place(parameter.place).own
    return parameter.name.removeprefix(f"{parameter.place}.") in own


def counted_by(configuration: Configuration) -> set[str]:
    """Return the parameters that say how many there are of a place, so that they are whole.

    What is rounded, and what grows with the population, may be any number.
    """
    counts = [node.count for node in configuration.nodes.values()]
    counts += [link.count for link in configuration.links.values()]
    found: set[str] = set()
    for count in counts:
        if not any(isinstance(part, VARYING) for part in parts_of(count)):
            found |= _unrounded(count, configuration)
    return found


def in_whole_numbers(configuration: Configuration) -> set[str]:
    """Return the parameters that are whole: they count places, or the users of a group."""
    sizes = [group.size.expr for group in configuration.groups.values()]
    return counted_by(configuration).union(*(_unrounded(size, configuration) for size in sizes))


def cores_counted_by(configuration: Configuration, machines: Mapping[str, ir.Machine]) -> set[str]:
    """Return the parameters that say how many cores the machines in their places have."""
    placed = {node.machine for node in configuration.nodes.values()}
    return {
        name
        for machine in placed
        for resource in machines[machine].resources
        if resource.kind is ir.ResourceKind.PROCESSOR
        for name in _unrounded(resource.capacity.expr, configuration)
    }


def stores_counted_by(
    configuration: Configuration,
    machines: Mapping[str, ir.Machine],
    parameters: Iterable[ir.Parameter],
) -> set[str]:
    """Return the parameters that say how many things there are to hold, such as threads."""
    placed = {node.machine for node in configuration.nodes.values()}
    numbers = {
        name
        for machine in placed
        for resource in machines[machine].resources
        if resource.kind is ir.ResourceKind.STORE and resource.capacity.dimension.is_item
        for name in _unrounded(resource.capacity.expr, configuration)
    }
    # Of what is worked out from others, such as memory for each session, these are not whole.
    plain = (p for p in parameters if p.dimension == DIMENSIONLESS or p.dimension.is_item)
    return numbers.intersection(p.name for p in plain)


def flows_counted_by(configuration: Configuration, streams: Iterable[ir.Stream]) -> set[str]:
    """Return the parameters that count flows: those of each group, and those that one receives."""
    counts = [s.flows_from.flows for s in streams if isinstance(s.flows_from, ir.InEachGroup)]
    for stream in streams:
        for leg in stream.legs:
            steps = leg.steps if isinstance(leg, ir.Visit) else ()
            spreads = [step.spread for step in steps if step.spread is not None]
            numbers = (one for spread in spreads for one in (spread.most, spread.count))
            counts += [one for one in numbers if one is not None]
    return set[str]().union(*(_unrounded(count.expr, configuration) for count in counts))


def _unrounded(expr: ir.Expr, configuration: Configuration) -> set[str]:
    """Return the parameters of an expression that no rounding stands around."""
    match expr:
        case ir.Apply(word) if OPERATIONS[word].rounds:
            return set()
        case ir.ParameterValue(name):
            return {name} | _unrounded(configuration.parameters[name], configuration)
    return {name for part in operands(expr) for name in _unrounded(part, configuration)}


def _set(configuration: Configuration, change: ir.SetParameter) -> Configuration:
    """Return a configuration with a parameter set; its kinds take the same value."""
    set_to: dict[str, ir.Expr] = {change.name: change.value}
    before = configuration.parameters[change.name]
    if isinstance(before, ir.Mixture):
        set_to |= {kind.parameter: ir.ParameterValue(change.name) for kind in before.classes}
    configured = replace(
        configuration,
        parameters=configuration.parameters | set_to,
        values_from=configuration.values_from | dict.fromkeys(set_to, change.span),
    )
    place = configuration.of_places.get(change.name)
    return configured if place is None else _with_own(configured, place, change.name)


def _with_own(configuration: Configuration, place: str, name: str) -> Configuration:
    """Return a configuration in which a number of what stands in a place is that of a name."""
    own = name.removeprefix(f"{place}.")
    node = configuration.nodes.get(place)
    if node is not None:
        nodes = {place: replace(node, own=node.own | {own})}
        return replace(configuration, nodes=configuration.nodes | nodes)
    link = configuration.links[place]
    links = {place: replace(link, own=link.own | {own})}
    return replace(configuration, links=configuration.links | links)


def _lost(configuration: Configuration, loss: ir.LoseMachines) -> Configuration:
    """Return a configuration in which machines of a node, or networks of a link, have failed."""
    node = configuration.nodes.get(loss.name)
    if node is not None:
        left = replace(node, count=loss.left(node.count), lost=loss, count_before=node.count)
        return replace(configuration, nodes=configuration.nodes | {loss.name: left})
    link = configuration.links[loss.name]
    fewer = replace(link, count=loss.left(link.count), lost=loss, count_before=link.count)
    return replace(configuration, links=configuration.links | {loss.name: fewer})


def _placed(configuration: Configuration, change: ir.SetPlace) -> Configuration:
    node = configuration.nodes.get(change.name)
    if node is not None:
        count = node.count if change.count is None else change.count
        moved = replace(node, machine=change.kind, count=count, source=None)
        return replace(configuration, nodes=configuration.nodes | {change.name: moved})
    link = configuration.links[change.name]
    count = link.count if change.count is None else change.count
    laid = replace(link, network=change.kind, count=count, source=None)
    return replace(configuration, links=configuration.links | {change.name: laid})
