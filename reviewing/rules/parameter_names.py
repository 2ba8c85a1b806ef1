"""Which parameters a part of a model names, and which its loads rest on."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from qps.compiler import ir


def modeled_names(model: ir.Model) -> Iterator[str]:
    """Yield the parameters that the loads of a model rest on."""
    values = {parameter.name: parameter.value for parameter in model.parameters}
    waiting: list[object] = [
        *(model.machines, model.networks, model.nodes, model.links),
        *(model.streams, model.groups, model.instances, model.waits),
    ]
    seen: set[str] = set()
    while waiting:
        for name in names_in(waiting.pop()):
            if name not in seen:
                seen.add(name)
                yield name
                waiting.append(values.get(name))


def names_in(value: object) -> Iterator[str]:
    """Yield the parameters that any part of a model names, some of them more than once."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ir.ParameterValue):
            yield one.name
        elif isinstance(one, ir.Mixture):
            yield from (kind.parameter for kind in one.classes)
        elif isinstance(one, Struct):
            waiting += [getattr(one, field) for field in one.__struct_fields__]
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, tuple | list):
            waiting += one
