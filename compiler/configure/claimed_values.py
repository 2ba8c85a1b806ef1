"""The queries of claims, observations and figures, and how they change it for that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.cases import report_unstated
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    changed,
    in_force,
)
from qps.compiler.configure.fold import CircleError, Folder, UnstatedCaseError, ValueTooLargeError
from qps.compiler.configure.possible_values import check_cases
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.ir.parts import operands_of, parts_of
from qps.engine.exact_algebra.exact_values import NoValueError


class ClaimedValue(Struct, frozen=True):
    """A value that is requested, and the changes of the model in which it is."""

    value: ir.Expr
    changes: tuple[ir.Change, ...]


def claimed_values(model: ir.Model) -> Iterator[ClaimedValue]:
    """Yield all that is requested; a value in a change of its own comes by itself, too."""
    for expectation in model.expectations:
        for claim in expectation.claims:
            if isinstance(claim.value, ir.Quantity):
                yield from _within(claim.value.expr, claim.changes)
            else:
                yield from _sides(claim.value, claim.changes)
            if claim.claimed is not None:
                yield from _within(claim.claimed.expr, claim.changes)
    for figure in model.figures:
        for curve in figure.curves:
            yield from _within(curve.value.expr, curve.changes)
    for observation in model.observations:
        for row in observation.rows:
            for column in observation.measured:
                yield from _within(column.value.expr, row.changes)


def claimed_changes(model: ir.Model) -> list[Sequence[ir.Change]]:
    """Return the changes in which something is requested, other than those of the population.

    Those of matrices come one by one: which combinations of them cannot be is computed row by row.
    """
    found: list[Sequence[ir.Change]] = [one.changes for one in claimed_values(model)]
    for matrix in model.matrices:
        single = [change for block in matrix.blocks for axis in block for change in axis.choices]
        found += [matrix.changes, *((*matrix.changes, change) for change in single)]
    for choices in model.choices:
        single = [change for axis in choices.axes for change in _of_each_kind(axis)]
        found += [choices.changes, *((*choices.changes, change) for change in single)]
    distinct = {
        tuple(change for change in changes if not isinstance(change, ir.SetPopulation)): None
        for changes in found
    }
    return [changes for changes in distinct if changes]


def _of_each_kind(axis: ir.Axis) -> Iterable[ir.Change]:
    """Return one change for each machine: however many there are, they are of one kind."""
    kinds = {c.kind if isinstance(c, ir.SetPlace) else c: c for c in axis.choices}
    return kinds.values()


def _within(value: ir.Expr, changes: tuple[ir.Change, ...]) -> Iterator[ClaimedValue]:
    yield ClaimedValue(value, changes)
    for part in parts_of(value):
        if isinstance(part, ir.Changed):
            yield from _within(part.value, (*changes, *part.changes))


def _sides(condition: ir.Condition, changes: tuple[ir.Change, ...]) -> Iterator[ClaimedValue]:
    yield ClaimedValue(ir.Constant(Fraction(1)), changes)
    for side in operands_of(condition):
        yield from _within(side, changes)


def check_claimed_values(model: ir.Model, sink: Sink) -> None:
    """Report every case that is requested of a parameter which does not state it.

    Where all state all of their cases, nothing can be requested that is not there.
    """
    base = base_configuration(model)
    lacking = model.derived(_lacking)
    seen: set[tuple[ir.Change, ...]] = set()
    for one in dict.fromkeys(claimed_values(model)):
        configuration = in_force(changed(base, one.changes))
        if not lacking and not _new_lacking(configuration, base):
            continue
        if one.changes not in seen:
            check_cases(model, configuration, sink)
        seen.add(one.changes)
        try:
            Folder(configuration=configuration, population=Fraction(configuration.low)).fold(
                one.value
            )
        except UnstatedCaseError as error:
            report_unstated(error.unstated, model, sink)
        except (CircleError, ValueTooLargeError, NoValueError):
            continue  # the check of bounds has said so


def _lacking(model: ir.Model) -> bool:
    """Return whether a parameter of a model does not state all of its cases."""
    return any(map(_lacks_a_case, base_configuration(model).parameters.values()))


def _new_lacking(configuration: Configuration, base: Configuration) -> bool:
    """Return whether a change has left out a case of a parameter."""
    return any(
        value is not base.parameters.get(name) and _lacks_a_case(value)
        for name, value in configuration.parameters.items()
    )


def _lacks_a_case(value: ir.Expr) -> bool:
    return any(
        isinstance(part, ir.ByCase) and len(part.values) < len(ir.Case) for part in parts_of(value)
    )
