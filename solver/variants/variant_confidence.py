"""What requirements that state a confidence level promise where a reader of a page starts.

A page draws no samples for them: of any other setting than that of a start it says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.solver.uncertainty.confidence_interface import model_at_confidence


def confidence_limits_of(
    model: ir.Model, configuration: Configuration
) -> Mapping[str, Mapping[str, int]]:
    """Return up to which population each holds, by mode (empty for none) and by its name.

    Empty where all is known, or nothing can be promised.
    """
    try:
        found = model_at_confidence(model, configuration)
    except QpsError:
        return {}
    if found is model:
        return {}
    by_mode = {mode.name: mode.requirements for mode in found.modes}
    return {
        mode or "": {
            one.name: one.confidence_capacity.population
            for one in (*found.requirements, *by_mode.get(mode or "", ()))
            if one.confidence_capacity is not None
            and one.confidence_capacity.population is not None
        }
        for mode in (each.mode for each in in_each_mode(found, configuration))
    }
