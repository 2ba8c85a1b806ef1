"""Values of a model without the places where they are written: equal where they say the same.

Names of the old version are those of the new one where a declaration was only renamed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from enum import Enum

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span

_IGNORED = frozenset(
    {
        *("span", "value_span", "written", "divisors", "bound", "text", "least_text"),
        *("source", "origins", "doc", "note", "title", "fitted", "confidence_capacity"),
    }
)
"""Fields that say where something is written, how, or by whose word."""


def plain(value: object, renamed: Mapping[str, str] | None = None) -> Hashable:
    """Return a value as nested tuples, without places and citations, under the new names."""
    names = renamed or {}
    match value:
        case Span():
            return None
        case Struct():
            fields = (f for f in value.__struct_fields__ if f not in _IGNORED)
            parts = (plain(getattr(value, field), names) for field in fields)
            return (type(value).__name__, *parts)
        case Enum():
            return (type(value).__name__, value.name)
        case str():
            return new_name(value, names)
        case tuple() | list():
            return tuple(plain(part, names) for part in value)
        case frozenset() | set():
            return frozenset(plain(part, names) for part in value)
        case dict():
            return frozenset((plain(k, names), plain(v, names)) for k, v in value.items())
        case Hashable():
            return value
    return repr(value)


def new_name(name: str, renamed: Mapping[str, str]) -> str:
    """Return what a name, or the place that it begins with, is called in the new version.

    >>> new_name("web.cpu", {"web": "front"}), new_name("webs", {"web": "front"})
    ('front.cpu', 'webs')
    """
    if not renamed:
        return name
    head = name
    while head:
        if head in renamed:
            return renamed[head] + name[len(head) :]
        head = head.rpartition(".")[0]
    return name


def renamed_in(old: ir.Model, new: ir.Model) -> Mapping[str, str]:
    """Return the new names of what was only renamed: gone, and there under another name alone."""
    found: dict[str, str] = {}
    for before, after in zip(_declared(old), _declared(new), strict=True):
        was, is_now = before.keys() - after.keys(), after.keys() - before.keys()
        old_values = {name: plain(before[name], {**found, name: ""}) for name in was}
        new_values = {name: plain(after[name], {name: ""}) for name in is_now}
        often = Counter(old_values.values()), Counter(new_values.values())
        by_value = {value: name for name, value in new_values.items()}
        for name, value in old_values.items():
            if often[0][value] == often[1][value] == 1:
                found[name] = by_value[value]
    return found


def _declared(model: ir.Model) -> Iterator[dict[str, object]]:
    """Yield what is declared of each kind by name: those first that others may name."""
    yield {one.name: one for one in model.options}
    yield {one.name: one for one in model.parameters if one.place is None}
    yield dict[str, object](model.machines)
    yield dict[str, object](model.networks)
    yield {one.name: one for one in model.nodes}
    yield {one.name: one for one in model.links}
    yield {one.name: one for one in model.groups}
    yield {one.name: one for one in model.streams}
    yield {one.name: one for one in model.modes}
    yield {one.name: one for one in model.scenarios}
    yield {one.name: one for one in model.matrices}
    yield {model.population.name: None}
