"""Units that who fits makes known, beside those of the language: items of a user's own."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.check.model.fits.check_fits import unit_reader
from qps.compiler.check.names.resolve import resolve
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.measurement.fit_columns import UnitOf
from qps.compiler.syntax.importer import Importer
from qps.compiler.syntax.parse import parse


def units_with(units: Sequence[str]) -> UnitOf:
    """Return what reads the units of the language and a user's own; QpsError where one is none."""
    wrong = [unit for unit in units if not unit.isidentifier()]
    if wrong:
        raise QpsError.single(
            codes.COMMAND_LINE,
            None,
            f"`{wrong[0]}` cannot be a unit",
            hint="a unit is one word, such as `update`",
        )
    text = "".join(f"unit {unit}\n" for unit in units)
    parsed = parse(Source("--unit", text))
    if any(diagnostic.is_error for diagnostic in parsed.diagnostics) or parsed.value is None:
        raise QpsError(parsed.diagnostics)
    program = resolve(parsed.value, Importer(root=None))
    if any(diagnostic.is_error for diagnostic in program.diagnostics) or program.value is None:
        raise QpsError(program.diagnostics)
    return unit_reader(program.value.main)
