"""Formulas as programs: operations in an order in which each comes after its operands.

Equal parts of formulas are one operation, however many use it. A program is plain data: what
an operation does stands in the table of `operations`, by its word, and the interpreters run it on
arrays and on bounds (`array_runs`), and on exact fractions (`exact_runs`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from qps.engine import leaves
from qps.engine.exact_algebra.exact_values import as_float
from qps.engine.operation_rows import Operation
from qps.engine.operations import OPERATIONS

StepValue: TypeAlias = Fraction | float | str | int | None


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """An operation by its word: its operands are the numbers of earlier steps.

    `value` holds a number (a float where it is no fraction), the name of an input or the exponent
    of a whole power.
    """

    word: str
    operands: tuple[int, ...] = ()
    value: StepValue = None


@dataclass(frozen=True)
class StraightLineProgram:
    """Steps in an order in which each comes after its operands.

    `inputs` says on which inputs a step rests, `varies` whether on the population.
    """

    steps: tuple[ProgramStep, ...]
    # Worked out from the steps; sets have another order in each process.
    inputs: tuple[frozenset[str], ...] = field(repr=False)
    varies: tuple[bool, ...] = field(repr=False)

    def needed(self, outputs: Iterable[int], known: Iterable[int] = ()) -> list[int]:
        """Return the steps that outputs rest on, in their order; `known` ones left out."""
        found: set[int] = set()
        done = set(known)
        waiting = [number for number in outputs if number not in done]
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += [o for o in self.steps[number].operands if o not in done]
        return sorted(found)

    def rests_on(self, outputs: Iterable[int], known: Container[int]) -> set[int]:
        """Return which of the known steps are the last before some outputs, or are outputs."""
        found, seen = set[int](), set[int]()
        waiting = list(outputs)
        while waiting:
            number = waiting.pop()
            if number in known:
                found.add(number)
            elif number not in seen:
                seen.add(number)
                waiting += self.steps[number].operands
        return found

    def plan(self, outputs: Iterable[int], known: Iterable[int] = ()) -> EvaluationPlan:
        """Return what is to be done for some outputs, in order."""
        wanted = frozenset(outputs)
        order = self.needed(wanted, known)
        last: dict[int, int] = {}
        for number in order:
            for operand in self.steps[number].operands:
                last[operand] = number
        unused: dict[int, list[int]] = {}
        for operand, number in last.items():
            if operand not in wanted:
                unused.setdefault(number, []).append(operand)
        found = EvaluationPlan()
        for number in order:
            step = self.steps[number]
            match step.word:
                case leaves.NUMBER:
                    assert isinstance(step.value, Fraction | float)
                    found.constants[number] = as_float(step.value)
                case leaves.INPUT:
                    found.inputs[number] = str(step.value)
                case leaves.POPULATION:
                    found.populations.append(number)
                case word:
                    row, done = OPERATIONS.get(word), tuple(unused.get(number, ()))
                    found.steps.append((number, row, step, done))
        return found


@dataclass(slots=True)
class EvaluationPlan:
    """What is to be done for some outputs.

    Steps in their order, each with its row of the table (None for a whole power), and the numbers
    of those that nobody needs after it.
    """

    constants: dict[int, float] = field(default_factory=dict)
    inputs: dict[int, str] = field(default_factory=dict)
    populations: list[int] = field(default_factory=list)
    steps: list[tuple[int, Operation | None, ProgramStep, tuple[int, ...]]] = field(
        default_factory=list
    )
