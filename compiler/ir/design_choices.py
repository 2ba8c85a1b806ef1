"""What may be chosen so that a system costs least."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.expressions import Change, Condition
from qps.compiler.ir.matrices import Axis
from qps.compiler.ir.parameters import Quantity


class DesignChoices(Struct, frozen=True, kw_only=True):
    """Axes of which all combinations may be built, but for those `excluded`.

    The `objective` is what is to be as small as possible; None for what the machines and networks
    cost.
    """

    name: str
    title: str | None
    changes: tuple[Change, ...]
    axes: tuple[Axis, ...]
    excluded: tuple[Condition, ...]
    objective: Quantity | None
    source: str | None
    note: str | None
    span: Span
