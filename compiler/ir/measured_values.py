"""Numbers that were measured, and what recordings give for an argument."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.dimension import Dimension


class Recorded(Struct, frozen=True, kw_only=True):
    """A number that was measured: `name` is what a trace calls it, `text` how it reads.

    `span` is where the trace is declared, `source` the file that it was computed from.
    """

    name: str
    value: Fraction
    dimension: Dimension
    text: str
    span: Span
    source: str


class RecordedTable(Struct, frozen=True, eq=False):
    """What a recording gives for an argument; `at` gives None where it has no value.

    `fault` says what such an argument is: `1 %` of gaps where more packets were lost.
    """

    name: str
    at: Callable[[Fraction], Recorded | None]
    fault: str
