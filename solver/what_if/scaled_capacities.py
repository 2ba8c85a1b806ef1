"""A model whose capacities can be turned: each times a number of its own, 1 as it stands.

So the load of a resource becomes a function of its capacity, whatever its capacity is made of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import VARYING, Configuration
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import DIMENSIONLESS

_ONE = ir.Constant(Fraction(1))


class ScaledCapacities(Struct, frozen=True, kw_only=True):
    """A model and a configuration with capacities to turn, each by a number of its own.

    `capacities` holds the number of each capacity: by machine and resource, by network and what
    of it; `counts` that of each node whose machines do not grow in number with the population.
    `counted_by` are the parameters that such numbers turn, where the count rests on one.
    """

    model: ir.Model
    configuration: Configuration
    capacities: dict[tuple[str, str], str]
    counts: dict[str, str]
    counted_by: dict[str, str]

    def at(self, values: dict[str, Fraction]) -> Configuration:
        """Return the configuration with some of the numbers set."""
        set_to: dict[str, ir.Expr] = {name: ir.Constant(value) for name, value in values.items()}
        parameters = self.configuration.parameters | set_to
        return replace(self.configuration, parameters=parameters)


def scaled_capacities(
    model: ir.Model, configuration: Configuration, only: Collection[str] | None = None
) -> ScaledCapacities:
    """Return a model with a number before each capacity, and before each fixed count of a node.

    A capacity or a count that is a parameter is turned by that parameter, so that all that rests on
    it follows: two capacities of one parameter have one number. So is a count that is made of one
    whole parameter and of what modes set: `nodes - gone` are those that a mode leaves.

    With `only` some numbers, all else stays as it is written: what is known of one core is not
    known of a number that is 1 by chance.
    """
    made = _Making(model, configuration, only)
    machines = {name: made.machine(machine) for name, machine in model.machines.items()}
    networks = {name: made.network(network) for name, network in model.networks.items()}
    nodes = {name: made.node(node) for name, node in configuration.nodes.items()}
    scaled = replace(
        configuration,
        nodes=nodes,
        parameters=configuration.parameters | made.parameters,
        values_from=configuration.values_from | {p.name: p.value_span for p in made.declared},
    )
    # A parameter that is turned may leave its range: what the model takes is the question.
    own = (
        replace(p, low=None, high=None) if p.name in made.turned else p for p in model.parameters
    )
    declared = (*own, *made.declared)
    whole = replace(model, machines=machines, networks=networks, parameters=declared)
    return ScaledCapacities(
        model=whole,
        configuration=scaled,
        capacities=made.capacities,
        counts=made.counts,
        counted_by=made.counted_by,
    )


class _Making:
    def __init__(
        self, model: ir.Model, configuration: Configuration, only: Collection[str] | None
    ) -> None:
        self.declared: list[ir.Parameter] = []
        self.parameters: dict[str, ir.Expr] = {}
        self.capacities: dict[tuple[str, str], str] = {}
        self.counts: dict[str, str] = {}
        self.counted_by: dict[str, str] = {}
        self.turned: set[str] = set()
        self._configuration, self._only = configuration, only
        self._known = {p.name: p for p in model.parameters}
        self._by_modes = {
            change.name
            for mode in model.modes
            for change in mode.changes
            if isinstance(change, ir.SetParameter)
        }

    def machine(self, machine: ir.Machine) -> ir.Machine:
        resources = (
            replace(each, capacity=self._turned((machine.name, each.name), each.capacity))
            for each in machine.resources
        )
        return replace(machine, resources=tuple(resources))

    def network(self, network: ir.Network) -> ir.Network:
        cap = network.cap and self._turned((network.name, "cap"), network.cap)
        rate = network.rate and self._turned((network.name, "rate"), network.rate)
        return replace(network, rate=rate, cap=cap)

    def node(self, node: ir.Node) -> ir.Node:
        if any(isinstance(part, VARYING) for part in parts_of(node.count)):
            return node
        name = self._counting(node.stated_count)
        if name is not None:
            if self._is_requested(_of_parameter(name)):
                number = self._of_parameter(name)
                self.counts[node.name], self.counted_by[number] = number, name
            return node
        if not self._is_requested(_of_machines(node.name)):
            return node
        number = self._number(_of_machines(node.name), node.span)
        self.counts[node.name] = number
        count = _times(number, node.stated_count)
        if node.lost is not None:
            return replace(node, count=node.lost.left(count), count_before=count)
        return replace(node, count=count)

    def _counting(self, count: ir.Expr) -> str | None:
        """Return the parameter by which a count grows: the only whole one that no mode sets."""
        if isinstance(count, ir.ParameterValue):
            return count.name if self._is_plain(count.name) else None
        names = {part.name for part in parts_of(count) if isinstance(part, ir.ParameterValue)}
        found = [name for name in names - self._by_modes if self._is_whole(name)]
        if len(found) != 1:
            return None
        name = found[0]
        now = self._configuration.parameters[name]
        assert isinstance(now, ir.Constant)
        here, further = (self._folded(count, name, now.value + more) for more in (0, 1))
        grows = here is not None and further is not None and here < further
        return name if grows and self._is_plain(name) else None

    def _is_whole(self, name: str) -> bool:
        value = self._configuration.parameters[name]
        if not isinstance(value, ir.Constant) or self._known[name].dimension != DIMENSIONLESS:
            return False
        return value.value >= 1 and value.value.denominator == 1

    def _folded(self, count: ir.Expr, name: str, value: Fraction) -> Fraction | None:
        """Return a count where a parameter has a value."""
        configuration = with_value(self._configuration, name, value)
        return Folder(configuration=configuration, population=Fraction(configuration.low)).fold(
            count
        )

    def _turned(self, key: tuple[str, str], capacity: ir.Quantity) -> ir.Quantity:
        expr = capacity.expr
        if isinstance(expr, ir.ParameterValue) and self._is_plain(expr.name):
            if self._is_requested(_of_parameter(expr.name)):
                self.capacities[key] = self._of_parameter(expr.name)
            return capacity
        if not self._is_requested(" ".join(key)):
            return capacity
        self.capacities[key] = self._number(" ".join(key), capacity.span)
        return replace(capacity, expr=_times(self.capacities[key], expr))

    def _is_requested(self, number: str) -> bool:
        return self._only is None or number in self._only

    def _is_plain(self, name: str) -> bool:
        value = self._configuration.parameters[name]
        others: Iterable[ir.Expr] = parts_of(value)
        return not self._known[name].is_elastic and not any(
            isinstance(part, ir.ByCase | ir.Mixture | ir.Choice) for part in others
        )

    def _of_parameter(self, name: str) -> str:
        number = _of_parameter(name)
        if number not in self.parameters:
            self.turned.add(name)
            self._number(number, self._known[name].span)
            self.parameters[name] = _times(number, self._configuration.parameters[name])
        return number

    def _number(self, name: str, span: Span) -> str:
        if name not in self.parameters:
            self.parameters[name] = _ONE
            self.declared.append(
                ir.Parameter(
                    name=name,
                    value=_ONE,
                    dimension=DIMENSIONLESS,
                    low=None,
                    high=None,
                    span=span,
                    value_span=span,
                    source=None,
                    doc=None,
                )
            )
        return name


def with_value(configuration: Configuration, name: str, value: Fraction) -> Configuration:
    """Return a configuration in which a parameter has a value."""
    parameters = configuration.parameters | {name: ir.Constant(value)}
    return replace(configuration, parameters=parameters)


def _of_parameter(name: str) -> str:
    return f"times {name}"


def _of_machines(node: str) -> str:
    return f"machines of {node}"


def _times(number: str, expr: ir.Expr) -> ir.Expr:
    return ir.Product((ir.ParameterValue(number), expr))
