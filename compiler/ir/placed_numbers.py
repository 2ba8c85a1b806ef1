"""The numbers of a machine or a network, by the words behind its place in their names.

So `server.cpu.cores` is `cpu.cores` of the machine that stands at `server`. What a graph calls
numbers of hardware, by which `explain` and `--for` know them, is said here once more: a law in
`tests/language/test_own_numbers.py` holds both against each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.ir.expressions import ParameterValue
from qps.compiler.ir.hardware import Machine, Medium, Network, Resource, ResourceKind
from qps.compiler.ir.parameters import Quantity
from qps.compiler.ir.stated_queueing import Queueing


def is_in_cores(name: str) -> bool:
    """Return whether a number, by its name, is written in cores and counts as a plain one."""
    return name.endswith((f".{CORES}", f".{HOST_CORES}"))


Visit = Callable[[str, Quantity], Quantity]
"""What is made of a number, by its name; the same where nothing is."""

S = TypeVar("S", bound=Struct)
T = TypeVar("T")
Hardware = Machine | Network

CORES = "cores"
"""The last word of the number that says how many cores the processor of a node has."""
HOST_CORES = "host_cores"
"""That of the number that says on how many cores of its host a CPU limit holds."""
CAPACITY = "capacity"
"""That of the number that says how much any other resource of it has."""


def changed(whole: S, **fields: Any) -> S:
    """Return a struct with some fields, itself where each of them is what it was."""
    is_same = all(getattr(whole, name) is value for name, value in fields.items())
    return whole if is_same else replace(whole, **fields)


def each(items: tuple[T, ...], change: Callable[[T], T]) -> tuple[T, ...]:
    """Return what is made of each of some items, the same tuple where nothing is."""
    found = tuple(map(change, items))
    is_same = all(one is item for one, item in zip(found, items, strict=True))
    return items if is_same else found


def number(name: str, quantity: Quantity | None, visit: Visit) -> Quantity | None:
    """Return what is made of a number that may not be there."""
    return None if quantity is None else visit(name, quantity)


def numbers_in(hardware: Hardware) -> dict[str, Quantity]:
    """Return the numbers of a machine or a network, by their words."""
    found: dict[str, Quantity] = {}

    def note(word: str, quantity: Quantity) -> Quantity:
        found[word] = quantity
        return quantity

    _ = (
        machine_with(hardware, note)
        if isinstance(hardware, Machine)
        else network_with(hardware, note)
    )
    return found


def set_in_place(place: str, own: Collection[str]) -> Visit:
    """Return what makes parameters of a place of some numbers, by their words."""

    def visit(word: str, quantity: Quantity) -> Quantity:
        if word not in own:
            return quantity
        return replace(quantity, expr=ParameterValue(f"{place}.{word}"), bound="", divisors=())

    return visit


def machine_with(machine: Machine, visit: Visit) -> Machine:
    """Return a machine with what is made of each of its numbers."""
    bases = Counter(_bases_of_speeds(machine))
    resources = each(machine.resources, lambda one: _resource(one, bases, visit))
    speeds = {
        id(old.speed): new.speed for old, new in zip(machine.resources, resources, strict=True)
    }

    def rating(one: tuple[str, Quantity]) -> tuple[str, Quantity]:
        base, quantity = one
        found = speeds.get(id(quantity), quantity) if base in bases else visit(base, quantity)
        return one if found is quantity or found is None else (base, found)

    return changed(
        machine,
        resources=resources,
        ratings=each(machine.ratings, rating),
        price=number("price", machine.price, visit),
    )


def _bases_of_speeds(machine: Machine) -> Iterator[str]:
    for resource in machine.resources:
        base = resource.speed.dimension.single_base if resource.speed else None
        if base is not None:
            yield base


def _resource(resource: Resource, bases: Counter[str], visit: Visit) -> Resource:
    """Return a resource with its numbers; a speed that two of them share is neither's own."""
    name, speed = resource.name, resource.speed
    is_processor = resource.kind is ResourceKind.PROCESSOR
    base = speed.dimension.single_base if speed is not None else None
    if base is not None and bases[base] == 1 and not resource.law_holds_speed:
        speed = number(f"{name}.speed", speed, visit)
    return changed(
        resource,
        capacity=visit(f"{name}.{CORES if is_processor else CAPACITY}", resource.capacity),
        speed=speed,
        idle=number(f"{name}.idle", resource.idle, visit),
        efficiency=number(f"{name}.efficiency", resource.efficiency, visit),
        jitter=number(f"{name}.jitter", resource.jitter, visit),
        queueing=_queueing(f"{name}.", resource.queueing, visit),
    )


def network_with(network: Network, visit: Visit) -> Network:
    """Return a network with what is made of each of its numbers."""
    rate = network.rate
    if not network.law_holds_rate:
        rate = number("rate", rate, visit)
    found = changed(
        network,
        rate=rate,
        header=number("header", network.header, visit),
        cap=number("cap", network.cap, visit),
        loss=number("loss", network.loss, visit),
        propagation=number("propagation", network.propagation, visit),
        price=number("price", network.price, visit),
    )
    if network.medium is not Medium.SHARED:
        return found  # each port has a law and a queue of its own, by its own name
    return changed(
        found,
        jitter=number("jitter", network.jitter, visit),
        queueing=_queueing("", network.queueing, visit),
    )


def _queueing(name: str, queueing: Queueing | None, visit: Visit) -> Queueing | None:
    if queueing is None:
        return None
    speeds = {id(one): f"{name}speed{n}" for n, one in enumerate(queueing.speeds, 1)}
    return changed(
        queueing,
        variation=number(f"{name}cv", queueing.variation, visit),
        room=number(f"{name}room", queueing.room, visit),
        period=number(f"{name}period", queueing.period, visit),
        host_cores=number(f"{name}{HOST_CORES}", queueing.host_cores, visit),
        speeds=each(queueing.speeds, lambda one: visit(speeds[id(one)], one)),
    )
