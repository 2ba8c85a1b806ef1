"""The methods by which numbers are known: one table, a row a method, and all that is said of it.

A row says which quantities it gives, what the method is called in queueing theory, from where it
is, and what follows: a number that is exact under its premises (a theorem), a bound, or an
approximation with its error. Code that makes formulas names a row by its id and the places where it
is used; what people read stands here alone. Errors of what stands together are measured
(`compiler/quantities/measured_errors.json`, by the same ids).
"""

from qps.compiler.quantities.methods.method_row import Method, Of, PremiseText
from qps.compiler.quantities.methods.method_table import (
    METHODS,
    UnknownMethodError,
    known_by,
    reason_of,
)
from qps.compiler.quantities.methods.premise_texts import PREMISES

__all__ = [
    "METHODS",
    "PREMISES",
    "Method",
    "Of",
    "PremiseText",
    "UnknownMethodError",
    "known_by",
    "reason_of",
]
