"""The parts of a load that closed streams request while their rates are 1, and that of all else."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.lower.closed_networks.elastic_with_closed import refuse_within
from qps.compiler.lower.closed_streams.closed_refusals import refused
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.engine.expressions.formulas import ZERO, Formula
from qps.engine.expressions.monomials import monomials


class LoadParts(Struct, frozen=True):
    """The demand at a resource: of each closed stream while its rate is 1, and of all else."""

    by: Mapping[Formula, Formula]
    open_load: Formula


def load_parts(
    name: str, load: Formula, sources: Mapping[Formula, ir.Stream], expressions: ExpressionLowering
) -> LoadParts:
    """Return what a load is made of; QpsError where it is not in proportion with a rate."""
    if load.symbols.isdisjoint(sources):
        return LoadParts({}, load)
    by: dict[Formula, Formula] = {}
    open_load: Formula = ZERO
    for of, before in monomials(load, sources).items():
        bent = [symbol for symbol in sources if symbol in before.symbols]
        if bent or len(of) > 1:
            stream = sources[(*bent, *of)[0]]
            raise refused(stream, f"the load of {name} does not grow in proportion with its rate")
        if of:
            by[of[0]] = before
        else:
            open_load = before
    refuse_within(name, by, sources, expressions.elastic.values())
    return LoadParts(by, open_load)
