"""Doc strings of what a page shows, by their names, and what it calls all that has a name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qps.compiler import ir
from qps.compiler.diagnostics.render import printable
from qps.compiler.ir.measure_names import is_utilization, resource_in
from qps.reports.text.words.labels import Labels, documented

_MOST_LETTERS = 300


def docs_of(model: ir.Model, names: Sequence[str]) -> dict[str, str]:
    """Return the doc strings of all that has one, of machines and networks those that are `names`.

    A module has many machines that no page names.
    """
    hidden = (model.machines.keys() | model.networks.keys()) - frozenset(names)
    return {name: _line(doc) for name, doc in documented(model) if doc and name not in hidden}


def labels_in_page(labels: Labels, names: Iterable[str]) -> dict[str, str]:
    """Return what names are called, where that is not as they are written.

    The load of a resource is called as the resource is: that stands there once.
    """
    known = frozenset(names)
    found = {}
    for name in sorted(known):
        called = labels.of(name)
        if called != name and not (is_utilization(name) and resource_in(name) in known):
            found[name] = printable(called)
    return found


def _line(doc: str) -> str:
    text = printable(" ".join(doc.split()))
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
