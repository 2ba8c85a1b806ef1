"""A model with everything settled: options chosen, machines and networks in their places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from qps.compiler import codes, ir
from qps.compiler.diagnostics import Sink
from qps.compiler.source import Span
from qps.compiler.suggest import did_you_mean


@dataclass(frozen=True)
class Configuration:
    """What is in force: the choices, the values and the places of one run.

    `parameters` holds the expression of each parameter, `values_from` where it was set; `case`
    says which value counts of those that have several, `case_from` where it was set. What a
    mode changes is kept apart in `mode_changes` and comes last: see `in_force`.
    """

    low: int
    high: int
    options: dict[str, str]
    parameters: dict[str, ir.Expr]
    values_from: dict[str, Span]
    nodes: dict[str, ir.Node]
    links: dict[str, ir.Link]
    scenario: str | None = None
    mode: str | None = None
    mode_changes: tuple[ir.Change, ...] = ()
    case: ir.Case = ir.Case.AVERAGE
    case_from: Span | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """A value that is equal for configurations that solve alike."""
        return (
            self.low,
            self.high,
            self.mode,
            self.case,
            tuple(self.options.items()),
            tuple(self.parameters.items()),
            # An elastic parameter that is set to its most is no longer elastic.
            tuple((span.source, span.start) for span in self.values_from.values()),
            tuple((n.name, n.machine, n.count) for n in self.nodes.values()),
            tuple((link.name, link.network, link.count) for link in self.links.values()),
        )


def base_configuration(model: ir.Model) -> Configuration:
    """Return the model as its spec states it."""
    return Configuration(
        model.population.low,
        model.population.high,
        {option.name: option.choices[0] for option in model.options},
        {parameter.name: parameter.value for parameter in model.parameters},
        {parameter.name: parameter.value_span for parameter in model.parameters},
        {node.name: node for node in model.nodes},
        {link.name: link for link in model.links},
    )


def with_scenario(model: ir.Model, name: str, sink: Sink) -> Configuration:
    """Return the model as a scenario changes it; an unknown one is reported."""
    base = base_configuration(model)
    for scenario in model.scenarios:
        if scenario.name == name:
            return replace(changed(base, scenario.changes), scenario=name)
    sink.report(
        codes.BAD_SETTING,
        None,
        f"{model.file} has no scenario `{name}`",
        hint=did_you_mean(name, [scenario.name for scenario in model.scenarios]),
    )
    return base


def in_each_mode(model: ir.Model, configuration: Configuration) -> tuple[Configuration, ...]:
    """Return a configuration in each mode; itself where there is none, or one was chosen."""
    if configuration.mode is not None or not model.modes:
        return (configuration,)
    return tuple(
        replace(configuration, mode=mode.name, mode_changes=mode.changes) for mode in model.modes
    )


def in_force(configuration: Configuration) -> Configuration:
    """Return a configuration with the changes of its mode made to it."""
    if not configuration.mode_changes:
        return configuration
    return changed(replace(configuration, mode_changes=()), configuration.mode_changes)


def changed(configuration: Configuration, changes: Iterable[ir.Change]) -> Configuration:
    """Return a configuration with changes made to it, in their order."""
    for change in changes:
        match change:
            case ir.SetPopulation(low, high):
                configuration = replace(configuration, low=low, high=high)
            case ir.SetOption(name, choice):
                options = configuration.options | {name: choice}
                configuration = replace(configuration, options=options)
            case ir.SetParameter():
                configuration = _set(configuration, change)
            case ir.SetCase(case, span):
                configuration = replace(configuration, case=case, case_from=span)
            case ir.SetPlace():
                configuration = _placed(configuration, change)
            case ir.SetMode(name, own):
                configuration = replace(configuration, mode=name, mode_changes=own)
            case ir.SetScenario(name, own):
                configuration = replace(changed(configuration, own), scenario=name)
    return configuration


def _set(configuration: Configuration, change: ir.SetParameter) -> Configuration:
    """Return a configuration with a parameter set; its kinds take the same value."""
    set_to: dict[str, ir.Expr] = {change.name: change.value}
    before = configuration.parameters[change.name]
    if isinstance(before, ir.Mixture):
        set_to |= {kind.parameter: ir.ParameterValue(change.name) for kind in before.kinds}
    return replace(
        configuration,
        parameters=configuration.parameters | set_to,
        values_from=configuration.values_from | dict.fromkeys(set_to, change.span),
    )


def _placed(configuration: Configuration, change: ir.SetPlace) -> Configuration:
    node = configuration.nodes.get(change.name)
    if node is not None:
        count = node.count if change.count is None else change.count
        moved = replace(node, machine=change.kind, count=count)
        return replace(configuration, nodes=configuration.nodes | {change.name: moved})
    link = configuration.links[change.name]
    count = link.count if change.count is None else change.count
    laid = replace(link, network=change.kind, count=count)
    return replace(configuration, links=configuration.links | {change.name: laid})
