"""What rests on a declaration that failed is left out: the stages behind meet no open names.

A declaration that failed was reported, and is not in the model. What names it (a scenario that
changes it, a claim, a stream in its groups) was checked by itself, and found nothing wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span

T = TypeVar("T")


def without_dangling(model: ir.Model) -> ir.Model:
    """Return a model without the parts that name something which the model does not have."""
    while True:
        pruned = _pruned(model, _names_in(model))
        if _size(pruned) == _size(model):
            return pruned
        model = pruned


def _pruned(model: ir.Model, known: frozenset[str]) -> ir.Model:
    """Return a model without what names anything else than is known."""

    def sound(parts: Sequence[T]) -> tuple[T, ...]:
        return tuple(part for part in parts if _named_in(part) <= known)

    return replace(
        model,
        parameters=sound(model.parameters),
        groups=sound(model.groups),
        nodes=sound(model.nodes),
        links=sound(model.links),
        machines={n: m for n, m in model.machines.items() if sound([m])},
        networks={n: m for n, m in model.networks.items() if sound([m])},
        streams=sound(model.streams),
        measures=sound(model.measures),
        requirements=sound(model.requirements),
        quality=model.quality if sound([model.quality]) else replace(model.quality, formula=None),
        targets=sound(model.targets),
        modes=tuple(
            replace(m, requirements=sound(m.requirements), changes=sound(m.changes))
            for m in model.modes
        ),
        scenarios=tuple(replace(s, changes=sound(s.changes)) for s in model.scenarios),
        expectations=tuple(
            replace(e, claims=sound(e.claims), matrix_claims=sound(e.matrix_claims))
            for e in model.expectations
        ),
        observations=sound(model.observations),
        figures=sound(model.figures),
        matrices=sound(model.matrices),
    )


def _size(model: ir.Model) -> int:
    """Return how many parts a model has."""
    parts: list[Sequence[object] | dict[str, ir.Machine] | dict[str, ir.Network]] = [
        model.parameters, model.groups, model.nodes, model.links, model.machines, model.networks,
        model.streams, model.measures, model.requirements, model.targets, model.observations,
        model.figures, model.matrices,
    ]  # fmt: skip
    parts += [part for m in model.modes for part in (m.requirements, m.changes)]
    parts += [scenario.changes for scenario in model.scenarios]
    parts += [part for e in model.expectations for part in (e.claims, e.matrix_claims)]
    return sum(map(len, parts))


def _names_in(model: ir.Model) -> frozenset[str]:
    """Return what a model has, each name with what kind of thing it is."""
    return frozenset(
        [
            *(f"option {option.name}" for option in model.options),
            *(f"parameter {parameter.name}" for parameter in model.parameters),
            *(f"group {group.name}" for group in model.groups),
            *(f"place {node.name}" for node in model.nodes),
            *(f"place {link.name}" for link in model.links),
            *(f"hardware {name}" for name in (*model.machines, *model.networks)),
        ]
    )


def _named_in(part: object) -> frozenset[str]:
    """Return what a part of a model names, however deep inside it."""
    return frozenset(name for inner in everything_in(part) for name in _names_of(inner))


def everything_in(part: object) -> Iterator[object]:
    """Yield a part of a model and all that it is made of, each once."""
    seen: set[int] = set()
    waiting = [part]
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, tuple):
            waiting += current
        elif isinstance(current, Struct) and not isinstance(current, Span):
            waiting += [getattr(current, name) for name in current.__struct_fields__]


def _names_of(part: object) -> Iterator[str]:
    """Yield what one node of the model names itself."""
    match part:
        case ir.ParameterValue(name=name) | ir.SetParameter(name=name) | ir.Kind(parameter=name):
            yield f"parameter {name}"
        case ir.Axis(name=name, kind=ir.AxisKind.PARAMETER):
            yield f"parameter {name}"
        case ir.Figure(parameter=str(name)):
            yield f"parameter {name}"
        case ir.OptionIs(option=name) | ir.SetOption(name=name):
            yield f"option {name}"
        case ir.NodeCount(name=name) | ir.Visit(node=name) | ir.Crossing(link=name):
            yield f"place {name}"
        case ir.SetPlace(name=name, kind=kind):
            yield from (f"place {name}", f"hardware {kind}")
        case ir.Node(machine=name) | ir.Link(network=name) | ir.Cost(measured_on=str(name)):
            yield f"hardware {name}"
        case ir.Stream(flows_from=str(name)):
            yield f"place {name}"
        case ir.Members(group=name) | ir.GroupCount(group=name) | ir.InEachGroup(group=name):
            yield f"group {name}"
        case ir.Step(group=str(name)):
            yield f"group {name}"
        case ir.Spread(cast=cast, group=group):
            yield from [f"option {cast}"] if isinstance(cast, str) else []
            yield from [f"group {group}"] if group is not None else []
