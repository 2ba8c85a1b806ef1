"""Values with all formulas in them changed, however deep these stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.network.stations_and_pools import Open
from qps.compiler.quantities.certainty import Certainty
from qps.engine.expressions.formulas import Formula

_WITHOUT = (Span, Open, Certainty)


def formulas_changed(one: object, change: Callable[[Formula], Formula]) -> object:
    """Return a value of the same type with all formulas in it changed."""
    if isinstance(one, Formula):
        return change(one)
    if isinstance(one, Struct) and not isinstance(one, _WITHOUT):
        fields = {n: formulas_changed(getattr(one, n), change) for n in one.__struct_fields__}
        return type(one)(**fields)
    if isinstance(one, tuple):
        return tuple(formulas_changed(each, change) for each in one)
    if isinstance(one, Mapping):
        return {key: formulas_changed(each, change) for key, each in one.items()}
    return one
