"""Single quantities behind flags of the command line: `160ms`, `6 %`, `0.5 s`."""

from __future__ import annotations

import re
from fractions import Fraction

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.quantities import units
from qps.compiler.quantities.dimension import DIMENSIONLESS, MONEY, TIME, Dimension

_QUANTITY = re.compile(
    r"\s*([+-]?\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})\s*([^\W\d]\w*|%)?\s*", re.ASCII
)

_COST = re.compile(r"\s*(\d[\d_]{0,17}(?:\.\d{1,18})?)\s*\$\s*(?:/\s*([^\W\d]\w*)\s*)?", re.ASCII)


def read_cost(text: str, what: str, example: str) -> tuple[Fraction, Dimension]:
    """Return an amount of money, or of money per time, in base units with its dimension.

    QpsError, which calls it `what`, where it is neither.

    >>> from qps.compiler.quantities.dimension import MONEY, TIME
    >>> read_cost("3_600 $/hour", "--budget", "500 $/month") == (Fraction(1), MONEY / TIME)
    True
    """
    match = _COST.fullmatch(text)
    unit = None if match is None or match[2] is None else units.built_in(match[2])
    is_rate = unit is not None and unit.dimension == TIME
    if match is None or (match[2] is not None and not is_rate):
        raise QpsError.single(
            codes.COMMAND_LINE,
            None,
            f"`{what} {shortened(text)}` is not an amount of money",
            hint=f"write `{what} '{example}'`",
        )
    amount = Fraction(match[1].replace("_", ""))
    return (amount, MONEY) if unit is None else (amount / unit.factor, MONEY / TIME)


def read_quantity(text: str, dimension: Dimension, what: str, example: str) -> Fraction:
    """Return a number with its unit in base units, exact.

    QpsError, which calls it `what`, where it is none of this dimension.

    >>> from qps.compiler.quantities.dimension import TIME
    >>> read_quantity("160ms", TIME, "--period", "160 ms")
    Fraction(4, 25)
    """
    match = _QUANTITY.fullmatch(text)
    unit = None
    if match is not None and match[2] is not None:
        unit = units.built_in("percent" if match[2] == "%" else match[2])
    is_plain = match is not None and match[2] is None and dimension == DIMENSIONLESS
    if match is not None and (is_plain or (unit is not None and unit.dimension == dimension)):
        return Fraction(match[1]) * (Fraction(1) if unit is None else unit.factor)
    raise QpsError.single(
        codes.COMMAND_LINE,
        None,
        f"`{what} {shortened(text)}` is not {dimension.in_words}",
        hint=f"write `{what} '{example}'`",
    )
