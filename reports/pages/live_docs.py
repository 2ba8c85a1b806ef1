"""Doc strings of what a page tells of, by their names: they are its labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qps.compiler import ir
from qps.compiler.diagnostics.render import printable

_MOST_LETTERS = 300


def docs_of(model: ir.Model, told: Sequence[str]) -> dict[str, str]:
    """Return the doc strings of all that has one, of machines and networks those that are `told`.

    A module has many machines that no page names.
    """
    shown = frozenset(told)
    named = {name: doc for name, doc in _documented(model, shown) if doc}
    return {name: _line(doc) for name, doc in named.items()}


def _documented(model: ir.Model, shown: frozenset[str]) -> Iterator[tuple[str, str | None]]:
    yield from ((name, kind.doc) for name, kind in model.machines.items() if name in shown)
    yield from ((name, kind.doc) for name, kind in model.networks.items() if name in shown)
    for stream in model.streams:
        for leg in stream.legs:
            if isinstance(leg, ir.Visit):
                yield from ((step.component.name, step.component.doc) for step in leg.steps)
    yield from ((node.name, node.doc) for node in model.nodes)
    yield from ((link.name, link.doc) for link in model.links)
    for parameter in model.parameters:
        if parameter.has_own_name:
            yield parameter.name, parameter.doc


def _line(doc: str) -> str:
    text = printable(" ".join(doc.split()))
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
