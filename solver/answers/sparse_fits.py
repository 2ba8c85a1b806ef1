"""Fitted numbers that count as known: their tables show no error at all."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.measurement.fit_spread import fit_spread
from qps.solver.answers.answer_parts import CountedAsKnown


def counted_as_known(model: ir.Model, graph: LoadGraph) -> tuple[CountedAsKnown, ...]:
    """Return the fitted costs in use that no row misses, by their tables."""
    counted = {
        tuple(one.value.distribution.table.split("\0")[-2:])
        for one in model.parameters
        if isinstance(one.value, ir.Uncertain) and isinstance(one.value.distribution, ir.Fitted)
    }
    found: dict[str, dict[str, None]] = {}
    for one in graph.analysis.calibrations:
        fit = one.fit
        if fit is None or (fit.file, fit.of) in counted:
            continue
        if fit_spread(fit) is None:
            name = f"{one.component}.{one.resource.rpartition('.')[2]}"
            found.setdefault(fit.file, {})[name] = None
    return tuple(CountedAsKnown(table=file, numbers=tuple(names)) for file, names in found.items())
