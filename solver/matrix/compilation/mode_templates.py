"""Modes of structures before they are compiled; those that differ in numbers alone made one.

Where graphs are alike but for numbers, and for what options add to sums, one of leaves stands for
all of them (`qps.engine.expressions.anti_unification`): each of them has a number for each leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from msgspec import structs

from qps.compiler.lower.load_graph import Criterion
from qps.engine.expressions.anti_unification import Generalization, NotAlikeError
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula
from qps.solver.matrix.compilation.column_labels import ColumnsKnown
from qps.solver.matrix.compilation.row_guards import RowGuards

Leaves = tuple[tuple[str, tuple[Fraction, ...]], ...]
"""The names of leaves, each with its number in each of the structures that are one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTemplate:
    """A resource: its load, what this is to stay below, and whether it is filled by design.

    `demand` is what is demanded of it, whether or not that is served.
    """

    name: str
    load: Formula
    target: Formula
    is_filled: bool
    demand: Formula
    is_never_full: bool = False


@dataclass(frozen=True, kw_only=True)
class ModeTemplate:
    """A mode of a structure: what is to be computed of each row.

    `outputs` are formulas of results of rows, each None where there is none. `values` are the
    numbers of symbols, `inputs` the symbols that vary from row to row, each by its name.
    """

    mode: str | None
    low: int
    high: int
    population: Formula
    criteria: tuple[Criterion, ...]
    impossible: tuple[tuple[str, Formula], ...]
    resources: tuple[ResourceTemplate, ...]
    guards: RowGuards
    outputs: tuple[Formula | None, ...]
    values: Mapping[Formula, Formula]
    inputs: Mapping[Formula, str]
    decided: frozenset[str]
    known: ColumnsKnown
    leaves: Leaves = ()

    @property
    def form(self) -> tuple[object, ...]:
        """All of it but formulas and numbers."""
        return (
            self.mode,
            self.low,
            self.high,
            tuple((c.name, c.span is None, c.strict, c.at_most, c.known) for c in self.criteria),
            tuple(message for message, _ in self.impossible),
            tuple((one.name, one.is_filled, one.is_never_full) for one in self.resources),
            self.guards.guards,
            tuple(one is None for one in self.outputs),
            frozenset(self.inputs.items()),
            self.decided,
            self.known,
        )

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """All its formulas, in an order that is the same for all of its form."""
        return (
            *(side for one in self.criteria for side in (one.measure, one.limit)),
            *(over for _, over in self.impossible),
            *(side for one in self.resources for side in (one.load, one.target, one.demand)),
            *self.guards.values,
            *(one for one in self.outputs if one is not None),
        )

    @property
    def shape(self) -> tuple[object, ...]:
        """The words of its formulas."""
        words: dict[Formula, frozenset[str]] = {}
        for part in parts_first(*self.formulas):
            words[part] = frozenset((part.word,)).union(*(words[one] for one in part.operands))
        return tuple(words[one] for one in self.formulas)

    def of(self, formulas: Iterator[Formula]) -> ModeTemplate:
        """Return the same with other formulas, in the order of `formulas`."""
        following = formulas.__next__
        return replace(
            self,
            criteria=tuple(
                structs.replace(one, measure=following(), limit=following())
                for one in self.criteria
            ),
            impossible=tuple((message, following()) for message, _ in self.impossible),
            resources=tuple(
                replace(one, load=following(), target=following(), demand=following())
                for one in self.resources
            ),
            guards=replace(self.guards, values=tuple(islice(formulas, len(self.guards.values)))),
            outputs=tuple(one and following() for one in self.outputs),
        )


Modes = tuple[ModeTemplate, ...]


def families(drafts: Mapping[int, Modes]) -> Iterator[tuple[tuple[int, ...], Modes]]:
    """Yield structures that are one, by their numbers, and what stands for all of them."""
    alike: dict[object, list[int]] = {}
    for number, modes in drafts.items():
        alike.setdefault(tuple(mode.form for mode in modes), []).append(number)
    for numbers in alike.values():
        yield from _of_one_form({number: drafts[number] for number in numbers})


def _of_one_form(drafts: Mapping[int, Modes]) -> Iterator[tuple[tuple[int, ...], Modes]]:
    """Yield what is one of structures of one form: all, else those of one shape, else by halves.

    Neighbors have most choices in common.
    """
    numbers = tuple(drafts)
    try:
        yield numbers, _generalized(tuple(drafts.values()))
        return
    except NotAlikeError:
        shapes: dict[object, list[int]] = {}
        for number, modes in drafts.items():
            shapes.setdefault(tuple(mode.shape for mode in modes), []).append(number)
    middle = len(numbers) // 2
    parts = shapes.values() if len(shapes) > 1 else (numbers[:middle], numbers[middle:])
    for part in parts:
        yield from _of_one_form({number: drafts[number] for number in part})


def _generalized(several: Sequence[Modes]) -> Modes:
    """Return what stands for several structures of one form; NotAlikeError where nothing does."""
    if len(several) == 1:
        return several[0]
    return tuple(map(_one_mode, zip(*several, strict=True)))


def _one_mode(several: Sequence[ModeTemplate]) -> ModeTemplate:
    found = Generalization([draft.values for draft in several])
    columns = zip(*(draft.formulas for draft in several), strict=True)
    whole = several[0].of(iter([found.of(column) for column in columns]))
    values, inputs = {}, dict(whole.inputs)
    for symbol in dict.fromkeys(s for one in whole.formulas for s in one.symbols):
        value = found.valued(symbol)
        if value is not None and value.is_symbol:
            inputs[symbol] = value.name
        elif value is not None:
            values[symbol] = value
    inputs |= {leaf: leaf.name for leaf in found.leaves.values()}
    leaves = tuple((leaf.name, column) for column, leaf in found.leaves.items())
    return replace(whole, values=values, inputs=inputs, leaves=leaves)
