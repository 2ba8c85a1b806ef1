"""Pairs of specs, and what `difference` reports of them."""

from __future__ import annotations

from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import Spec, check_source
from qps.solver.what_if.assumption_changes import ConfiguredModel
from qps.solver.what_if.difference import Difference, difference

# The load of the host is N * pace * work: it carries 1 / (pace * work) users.
BASE = """\
users N in 1..1000
machine box {{ cpu 1 core }}
component work {{ cpu {work} ms/packet }}
param pace = {pace} packet/s source "us"
topology {{ node host = box }}
stream flow {{ traffic N * pace; at host {{ work }} }}
"""


def spec_of(text: str) -> Spec:
    spec = check_source(Source("spec.qps", text)).value
    assert spec is not None
    return spec


def compare(old: str, new: str) -> Difference:
    """Return the difference of two texts."""
    sides = [ConfiguredModel(spec.model, spec.configuration()) for spec in map(spec_of, (old, new))]
    return difference(*sides)


def reported(found: Difference) -> dict[str, tuple[int | None, int | None, float | None]]:
    return {c.name: (c.alone, c.step, c.share) for c in found.changes}
