"""Machines and networks in their places.

They have the ways of waiting that a spec states for these, and the numbers that are set there.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from qps.compiler.ir.hardware import (
    Link,
    Machine,
    Network,
    Node,
    Resource,
    ResourceKind,
)
from qps.compiler.ir.model import Model
from qps.compiler.ir.placed_numbers import machine_with, network_with, set_in_place
from qps.compiler.ir.requirements import ResourceScope, Wait
from qps.compiler.ir.stated_queueing import Queueing


def machine_at(model: Model, node: Node) -> Machine | None:
    """Return the machine that stands at a node; None where the model has none of that name."""
    return model.derived(_Placed).machine(node)


def network_at(model: Model, link: Link) -> Network | None:
    """Return the network that stands at a link; None where the model has none of that name."""
    return model.derived(_Placed).network(link)


def wait_in_force(
    waits: Iterable[Wait], resource: str, place: str, own: Queueing | None, *, is_link: bool = False
) -> Queueing | None:
    """Return how what arrives waits for a resource, None where nothing says so.

    What is said of the place goes before what its machine or network states of its `own`; that goes
    before what is said of all resources of a name. `none` is said, too.
    """
    ranked = [(wait.rank(resource, place, is_link=is_link), wait) for wait in waits]
    known = [(rank, wait) for rank, wait in ranked if any(rank)]
    if not known:
        return own
    _, closest = max(known, key=lambda pair: pair[0])
    return own if own is not None and closest.scope is not ResourceScope.PLACE else closest.queueing


class _Placed:
    """The machines and networks of a model in their places, each made once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._machines: dict[tuple[str, str, frozenset[str]], Machine] = {}
        self._networks: dict[tuple[str, str, frozenset[str]], Network] = {}

    def machine(self, node: Node) -> Machine | None:
        key = node.name, node.machine, node.own
        if key not in self._machines:
            machine = self._model.machines.get(node.machine)
            if machine is None:
                return None
            resources = tuple(self._resource(node, one) for one in machine.resources)
            is_other = any(a is not b for a, b in zip(resources, machine.resources, strict=True))
            placed = replace(machine, resources=resources) if is_other else machine
            if node.own:
                placed = machine_with(placed, set_in_place(node.name, node.own))
            self._machines[key] = placed
        return self._machines[key]

    def network(self, link: Link) -> Network | None:
        key = link.name, link.network, link.own
        if key not in self._networks:
            network = self._model.networks.get(link.network)
            if network is None:
                return None
            waits, own = self._model.waits, network.queueing
            found = wait_in_force(waits, link.name, link.name, own, is_link=True)
            placed = network if found is own else replace(network, queueing=found)
            if link.own:
                placed = network_with(placed, set_in_place(link.name, link.own))
            self._networks[key] = placed
        return self._networks[key]

    def _resource(self, node: Node, resource: Resource) -> Resource:
        if resource.kind is ResourceKind.STORE:
            return resource
        name, own = f"{node.name}.{resource.name}", resource.queueing
        found = wait_in_force(self._model.waits, name, node.name, own)
        return resource if found is own else replace(resource, queueing=found)
