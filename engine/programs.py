"""Formulas as programs: operations in an order in which each comes after its operands.

Equal parts of formulas are one operation, however many ask for it. A program is plain data: what
an operation does stands in the table of `operations`, by its word, and the interpreters run it on
arrays (`running`), on exact fractions (`exact`), and on bounds (`bounding`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

StepValue: TypeAlias = Fraction | float | str | int | None


@dataclass(frozen=True, slots=True)
class Step:
    """An operation by its word: its operands are the numbers of earlier steps.

    `value` holds a number (a float where it is no fraction), the name of an input or the exponent
    of a whole power.
    """

    word: str
    operands: tuple[int, ...] = ()
    value: StepValue = None


@dataclass(frozen=True)
class Program:
    """Steps in an order in which each comes after its operands.

    `inputs` tells on which inputs a step rests, `varies` whether on the population.
    """

    steps: tuple[Step, ...]
    # Worked out from the steps; sets are told in another order by each process.
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
