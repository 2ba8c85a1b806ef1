"""What rests on a declaration that failed is left out: the stages behind meet no open names.

A declaration that failed was reported, and is not in the model. What names it (a scenario that
changes it, a claim, a stream in its groups) was checked by itself, and found nothing wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span

P = TypeVar("P", bound=Struct)

_PARTS = (
    "parameters", "groups", "nodes", "links", "streams", "measures", "requirements", "targets",
    "observations", "figures", "matrices", "choices",
)  # fmt: skip
"""The parts of a model that go as a whole where something in them dangles."""


def without_dangling(model: ir.Model) -> ir.Model:
    """Return a model without the parts that name something which the model does not have."""
    known = _names_in(model)
    while True:
        model = _pruned(model, known)
        if _names_in(model) == known:
            return model
        known = _names_in(model)


def _pruned(model: ir.Model, known: frozenset[str]) -> ir.Model:
    """Return a model without what names anything else than is known."""

    def is_sound(part: object) -> bool:
        return _named_in(part) <= known

    def within(part: P, *fields: str) -> P:
        return replace(part, **{f: tuple(filter(is_sound, getattr(part, f))) for f in fields})

    formula = model.quality.formula if is_sound(model.quality) else None
    return replace(
        within(model, *_PARTS),
        machines={n: m for n, m in model.machines.items() if is_sound(m)},
        networks={n: m for n, m in model.networks.items() if is_sound(m)},
        quality=replace(model.quality, formula=formula),
        modes=tuple(within(mode, "requirements", "changes") for mode in model.modes),
        scenarios=tuple(within(scenario, "changes") for scenario in model.scenarios),
        expectations=tuple(within(e, "claims", "matrix_claims") for e in model.expectations),
    )


def _names_in(model: ir.Model) -> frozenset[str]:
    """Return what a model has, each name with what kind of thing it is."""
    declared: tuple[tuple[str, Iterable[str]], ...] = (
        ("option", (option.name for option in model.options)),
        ("parameter", (parameter.name for parameter in model.parameters)),
        ("group", (group.name for group in model.groups)),
        ("place", (node.name for node in model.nodes)),
        ("place", (link.name for link in model.links)),
        ("hardware", (*model.machines, *model.networks)),
    )
    return frozenset(f"{kind} {name}" for kind, names in declared for name in names)


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
        case ir.ParameterValue(name=name) | ir.SetParameter(name=name) | ir.Class(parameter=name):
            yield f"parameter {name}"
        case ir.Axis(name=name, kind=ir.AxisKind.PARAMETER):
            yield f"parameter {name}"
        case ir.Figure(parameter=str(name)):
            yield f"parameter {name}"
        case ir.OptionIs(option=name) | ir.SetOption(name=name):
            yield f"option {name}"
        case ir.NodeCount(name=name) | ir.Visit(node=name) | ir.Crossing(link=name):
            yield f"place {name}"
        case ir.LoseMachines(name=name):
            yield f"place {name}"
        case ir.SetPlace(name=name, kind=kind):
            yield from (f"place {name}", f"hardware {kind}")
        case ir.Node(machine=name) | ir.Link(network=name) | ir.Cost(measured_on=str(name)):
            yield f"hardware {name}"
        case ir.Stream(flows_from=str(name)) | ir.EachPair(node=str(name)):
            yield f"place {name}"
        case ir.Members(group=name) | ir.GroupCount(group=name) | ir.InEachGroup(group=name):
            yield f"group {name}"
        case ir.EachPair(group=str(name)):
            yield f"group {name}"
        case ir.Step(group=str(name)):
            yield f"group {name}"
        case ir.Spread(cast=cast, group=group):
            yield from [f"option {cast}"] if isinstance(cast, str) else []
            yield from [f"group {group}"] if group is not None else []
