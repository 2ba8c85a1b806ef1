"""Loads, with how far off they are where that was measured on random networks."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from qps.compiler.lower.label_doubts import Gate
from qps.compiler.lower.load_graph import ResourceLoad
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.measured_errors import Quantity, as_stated, measured


def with_load_errors(resources: Mapping[str, ResourceLoad], gate: Gate) -> dict[str, ResourceLoad]:
    """Return resources with how their loads are known, each with its error."""
    return {
        name: replace(one, known=known_of(one.known, is_like_drawn=gate.is_like_drawn(name)))
        for name, one in resources.items()
    }


def known_of(known: Certainty, *, is_like_drawn: bool) -> Certainty:
    """Return how a load is known, with the error of such loads in random networks."""
    return measured(known, Quantity.LOAD) if is_like_drawn else as_stated(known)
