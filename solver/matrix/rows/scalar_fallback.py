"""What arrays leave open of a row: decided by the functions that `qps solve` uses.

The numbers of the row are put in for its inputs, so that the population is all that is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from math import inf

from qps.compiler.diagnostics.diagnostic import QpsError
from qps.engine.execution.exact_runs import Exact
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import NOT_FINITE, Formula, number
from qps.engine.expressions.point_values import EvaluationPoint
from qps.solver.answers.capacity import first_failure
from qps.solver.answers.saturation import refuse_undecided, saturation_point
from qps.solver.answers.solution import Saturation, SolverFault
from qps.solver.matrix.compilation.compiled_matrix import CompiledMode
from qps.solver.matrix.limits.row_preparation import CompiledCriterion, Ints
from qps.solver.matrix.limits.saturations import CompiledResource
from qps.solver.matrix.rows.exact_decisions import Decider, Index

FAULT = "internal error of qps: "
"""What the reason of a row begins with that has no answer by a fault of ours."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a row has no answer; `is_fault`: by a fault of ours, not of the configuration."""

    reason: str
    is_fault: bool = False


@contextmanager
def refusing(refused: dict[int, Refusal], row: int) -> Iterator[None]:
    """Keep why a row has no answer, where what is done here says so: the others are solved.

    The first reason stands.
    """
    try:
        yield
    except QpsError as error:
        refused.setdefault(row, Refusal(error.diagnostics[0].message))
    except SolverFault as fault:
        refused.setdefault(row, Refusal(f"{FAULT}{fault}", is_fault=True))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is ours
        text = f"{FAULT}{type(error).__name__}: {error}"
        refused.setdefault(row, Refusal(text, is_fault=True))


@dataclass(kw_only=True)
class ScalarFallback:
    """Answers for single rows of one mode; `refused` gathers those that have no answer, and why.

    `rows` are all rows that were solved here.
    """

    mode: CompiledMode
    decider: Decider
    index: Index
    refused: dict[int, Refusal] = field(default_factory=dict)
    rows: set[int] = field(default_factory=set)

    def exactly(self, sides: Sequence[int], rows: Ints) -> Mapping[int, Sequence[Exact]]:
        """Return the exact values of operations in which there is no population, in some rows."""
        return self.decider.columns(self.index, sides, rows, None)

    def first_failures(self, row: int) -> list[int] | None:
        """Return where each criterion first fails, one behind the range for nowhere.

        None where that cannot be determined.
        """
        with self._of(row):
            return [self._first(row, criterion, self.mode.high) for criterion in self.mode.criteria]
        return None

    def first_failure(
        self, row: int, criteria: Sequence[CompiledCriterion], until: int
    ) -> int | None:
        """Return the first population up to `until` at which one of some criteria fails.

        One behind `until` for nowhere; None where that cannot be determined.
        """
        with self._of(row):
            end = until
            for criterion in criteria:  # what fails behind another one does not matter
                end = min(end, self._first(row, criterion, end) - 1)
                if end < self.mode.low:
                    break
            return end + 1
        return None

    def refuse_impossible(self, row: int, end: int) -> None:
        """Refuse a row where something cannot be, at a population up to an end."""
        with self._of(row):
            for criterion in self.mode.impossible:
                first = self._first(row, criterion, end)
                if first <= end:
                    reason = f"{criterion.name} at {self.mode.population} = {first}"
                    self.refused.setdefault(row, Refusal(reason))
                    return

    def saturation(
        self, row: int, resource: CompiledResource, until: float = inf
    ) -> Saturation | None:
        """Return where a resource saturates; None where the row is refused.

        What saturates behind `until` may count as never.
        """
        found = None
        with self._of(row):
            load = self._put_in(row, resource.fullness)
            if not NOT_FINITE.isdisjoint(parts_first(load)):
                reason = f"the utilization of {resource.name} divides by zero"
                self.refused[row] = Refusal(reason)
            else:
                found = saturation_point(
                    load,
                    self.mode.population,
                    self.mode.low,
                    passes=resource.is_filled,
                    name=resource.name,
                    high=self.mode.high,
                    until=until,
                )
        return found

    def refuse_undecided(self, row: int, population: int, name: str) -> None:
        """Refuse a row that needs a saturation point which is undecided."""
        with self._of(row):
            refuse_undecided(population, self.mode.population, name, None)

    def quality(self, row: int, population: int) -> float:
        """Return the quality at a population, to the last digit."""
        if self.mode.metric is None:
            return 0.0
        point = EvaluationPoint({self.mode.population: number(population)})
        return point.number(self._put_in(row, self.mode.metric))

    def _first(self, row: int, criterion: CompiledCriterion, end: int) -> int:
        mode = self.mode
        found = first_failure(
            self._put_in(row, criterion.over),
            mode.population,
            mode.low,
            end,
            strict=criterion.is_strict,
            name=criterion.name,
        )
        return end + 1 if found is None else found

    def _put_in(self, row: int, formula: Formula) -> Formula:
        return self.decider.put_in(self.index, row)(formula)

    def _of(self, row: int) -> AbstractContextManager[None]:
        self.rows.add(row)
        return refusing(self.refused, row)
