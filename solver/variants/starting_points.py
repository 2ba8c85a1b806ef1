"""Where a reader of a page starts: configurations, and the numbers and spreads of each."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.dimension import Dimension
from qps.solver.variants.selects import Picks
from qps.solver.variants.variant_confidence import confidence_limits_of
from qps.solver.variants.variant_spreads import NumberSpread, spreads_of


class StartingPoint(Struct, frozen=True):
    """A configuration that a reader may start from: its name, and what `--set` changed in it."""

    name: str
    configuration: Configuration
    settings: tuple[str, ...] = ()


class StartNumber(Struct, frozen=True, kw_only=True):
    """A parameter that a start sets to a number, in base units, and where it does."""

    name: str
    value: Fraction
    dimension: Dimension
    span: Span
    is_input: bool


class Start(Struct, frozen=True, kw_only=True):
    """Where a reader starts: a configuration, as a shape of the model with picks.

    It sets the parameters of `numbers` otherwise than the spec; what a mode sets goes before these,
    and stands in the graph of the mode. `spreads` are of what is not known, by mode, and
    `confidence_limits` the capacities at a confidence (`confidence_limits_of`); empty where all is
    known.
    """

    name: str
    doc: str | None
    configuration: Configuration
    settings: tuple[str, ...]
    shape: int
    picks: Picks
    numbers: tuple[StartNumber, ...]
    spreads: Mapping[str, tuple[tuple[NumberSpread, ...], ...]] = {}
    confidence_limits: Mapping[str, Mapping[str, int]] = {}


def with_spreads(start: Start, model: ir.Model, confidence_model: ir.Model) -> Start:
    """Return a start with what is not known, and the capacity at its confidence level."""
    spreads = spreads_of(model, start.configuration)
    if not spreads:
        return start
    return replace(
        start,
        spreads=spreads,
        confidence_limits=confidence_limits_of(confidence_model, start.configuration),
    )
