"""What is promised with certainty, wherever a population is answered; nothing is imported before.

Most specs state no confidence level, or are certain: they need no samples, and no numpy.
"""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.lower.certainty_requirements import as_stated
from qps.solver.uncertainty.interval_result import Sampling


def model_at_confidence(
    model: ir.Model, configuration: Configuration, sampling: Sampling | None = None
) -> ir.Model:
    """Return a model whose requirements with a certainty are what can be promised by them.

    Itself where none states any, or every number is certain. QpsError where no sample can be.
    """
    if as_stated(model, configuration) is model:
        return model
    from qps.solver.uncertainty.confidence_capacity import with_confidence_limits  # noqa: PLC0415

    return with_confidence_limits(model, configuration, sampling or Sampling())
