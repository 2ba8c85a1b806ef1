"""What parameters with several values come to in each case, and how the spec writes that."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.fold import Folder, UnstatedCaseError
from qps.compiler.quantities.dimension import Dimension


class CaseRow(Struct, frozen=True):
    """A kind, its share, and its value in each case; None where that case is not stated.

    The row of all kinds together has an empty name, and so has that of a parameter without.
    """

    kind: str
    share: Fraction | None
    values: dict[ir.Case, Fraction | None]
    place: str


class CaseTable(Struct, frozen=True):
    """A parameter with several values, row by row."""

    name: str
    dimension: Dimension
    rows: tuple[CaseRow, ...]
    source: str | None


def case_tables(model: ir.Model, configuration: Configuration) -> dict[str, CaseTable]:
    """Return the tables of all parameters that have several values in a configuration."""
    folder = Folder(configuration=configuration, population=Fraction(configuration.low))
    tables = {}
    for parameter in model.parameters:
        value = configuration.parameters[parameter.name]
        if not isinstance(value, ir.ByCase | ir.Mixture):
            continue
        kinds = value.classes if isinstance(value, ir.Mixture) else ()
        rows = [_row(kind.parameter, kind.name, kind.share, folder) for kind in kinds]
        rows.append(_row(parameter.name, "", None, folder))
        source = parameter.source or parameter.doc
        tables[parameter.name] = CaseTable(parameter.name, parameter.dimension, tuple(rows), source)
    return tables


def _row(name: str, kind: str, share: Fraction | None, folder: Folder) -> CaseRow:
    values = {case: _value(name, folder.in_case(case)) for case in ir.Case}
    return CaseRow(kind, share, values, folder.configuration.values_from[name].place)


def _value(name: str, folder: Folder) -> Fraction | None:
    try:
        return folder.fold(ir.ParameterValue(name))
    except UnstatedCaseError:
        return None


def as_written(name: str, configuration: Configuration, case: ir.Case) -> str:
    """Return how the spec writes a parameter in a case: `(30 * 23.3 kB + 145 * 4.7 kB)/175`."""
    value = configuration.parameters[name]
    if isinstance(value, ir.ByCase):
        stated = value.stated(case)
        return stated.span.text if stated else ""
    if not isinstance(value, ir.Mixture):
        return configuration.values_from[name].text
    if case is ir.Case.AVERAGE:
        return _mean(value, configuration)
    folder = Folder(configuration=configuration, population=Fraction(configuration.low), case=case)
    whole = folder.fold(ir.ParameterValue(name))
    names = [kind.parameter for kind in value.classes]
    chosen = next(one for one in names if folder.fold(ir.ParameterValue(one)) == whole)
    return as_written(chosen, configuration, case)


def _mean(mixture: ir.Mixture, configuration: Configuration) -> str:
    parts = []
    for kind in mixture.classes:
        text = as_written(kind.parameter, configuration, ir.Case.AVERAGE)
        text = f"({text})" if " + " in text or " - " in text else text
        parts.append(text if kind.weight == "1" else f"{kind.weight} * {text}")
    sum_text = " + ".join(parts)
    return sum_text if mixture.total == 1 else f"({sum_text})/{float(mixture.total):g}"
