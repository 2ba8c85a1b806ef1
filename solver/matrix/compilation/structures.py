"""Which configurations of a matrix share a lowered graph: those that differ in numbers alone.

Options, scenarios, modes, machines and networks decide about the structure, one by one; how many
of these there are is a number (`numbered_counts.py`). So does a parameter that a condition requests
(`if size > 1000 byte/packet`): its values fall into classes, in each of which all conditions come
out alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    changed,
    in_force,
    with_drawn,
)
from qps.compiler.configure.fold import CircleError, Folder, ValueTooLargeError
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.engine.exact_algebra.exact_values import NoValueError
from qps.engine.expressions.formulas import population
from qps.solver.matrix.compilation.numbered_counts import choice_classes
from qps.solver.matrix.compilation.row_questions import compared

MOST_CHOICES = 100_000
"""Combinations of options, places, scenarios and modes, each of which is lowered by itself."""
_MOST_DECIDED = 2_000_000
_SHARES = (0.0, 1.0, 0.5, 0.25, 0.75)
"""Of the way from the first member of a group to its last."""
_FIRST = (ir.AxisKind.SCENARIO, ir.AxisKind.MODE)

Classes = NDArray[np.int64]


@dataclass(frozen=True)
class ConfigurationGroup:
    """Configurations of one structure.

    `index` and `last` say which value of each axis to lower with: of two members that lie far
    apart.
    """

    index: tuple[int, ...]
    last: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Structure:
    """The structure of one product of axes.

    `deciding` are the axes that decide about it, and `classes` has for each of them the number of
    the class that each value is of; `group_of` has the number of the group for each combination of
    classes.
    """

    axes: tuple[ir.Axis, ...]
    deciding: tuple[int, ...]
    classes: tuple[Classes, ...]
    group_of: Classes
    groups: tuple[ConfigurationGroup, ...]

    def groups_at(self, index: Sequence[Classes]) -> Classes:
        """Return the numbers of the groups of rows with some values of all axes."""
        places = (own[index[i]] for i, own in zip(self.deciding, self.classes, strict=True))
        found: Classes = self.group_of[tuple(places)]
        return found

    @property
    def parts(self) -> NDArray[np.float64]:
        """Which part of all combinations each group has."""
        weights: NDArray[np.float64] = np.ones(())
        for own in self.classes:
            weights = np.multiply.outer(weights, np.bincount(own) / own.size)
        found = np.zeros(len(self.groups))
        np.add.at(found, self.group_of.ravel(), weights.ravel())
        return found

    def members(self, group: ConfigurationGroup) -> list[tuple[int, ...]]:
        """Return some members of a group, far apart: which value of each axis they have.

        Those with its own values, where no others have its structure.
        """
        own = tuple(group.index[i] for i in self.deciding)
        places = [own]
        if group.index != group.last:
            number = self.groups_at([np.array(at) for at in group.index])
            every = np.argwhere(self.group_of == number)
            places = [
                self._values(every[round(share * (len(every) - 1))], share) for share in _SHARES
            ]
        elif len(self.deciding) < len(self.axes):
            places *= len(_SHARES)
        found = []
        for share, place in zip(_SHARES, places, strict=False):
            decided = dict(zip(self.deciding, place, strict=True))
            others = (int(share * (axis.count - 1)) for axis in self.axes)
            found.append(tuple(decided.get(i, other) for i, other in enumerate(others)))
        return found

    def _values(self, place: Classes, share: float) -> tuple[int, ...]:
        """Return values of the deciding axes that are of some classes, as far on in each."""
        alike = (np.flatnonzero(own == at) for own, at in zip(self.classes, place, strict=True))
        return tuple(int(values[round(share * (values.size - 1))]) for values in alike)


def configured(
    model: ir.Model, matrix: ir.Matrix, axes: tuple[ir.Axis, ...], index: tuple[int, ...]
) -> Configuration:
    """Return one configuration of a matrix; what an axis sets goes before what a scenario does."""
    configuration = changed(base_configuration(model), matrix.changes)
    chosen = list(zip(axes, index, strict=True))
    return along(configuration, chosen)


def along(configuration: Configuration, chosen: Sequence[tuple[ir.Axis, int]]) -> Configuration:
    """Return a configuration with the values that some axes have; what is drawn comes last."""
    known = [(axis, at) for axis, at in chosen if axis.kind is not ir.AxisKind.DRAWN]
    early = [axis.change(at) for axis, at in known if axis.kind in _FIRST]
    late = [axis.change(at) for axis, at in known if axis.kind not in _FIRST]
    counts = [one.change(at) for axis, at in known if axis.choices for one in axis.parameters]
    found = changed(configuration, [*early, *late, *counts])
    for axis, at in chosen:
        if axis.kind is ir.AxisKind.DRAWN:
            found = with_drawn(found, axis.drawn(at))
    return found


def structure_of(model: ir.Model, matrix: ir.Matrix, axes: tuple[ir.Axis, ...]) -> Structure:
    """Return which configurations of a product of axes share a structure."""
    chosen = [i for i, axis in enumerate(axes) if axis.choices]
    compares = _conditions(model, matrix)
    requested = _decided(model, matrix, axes, compares)
    decided = [i for i in requested if i not in chosen]
    kinds = [_kinds(axes[i], is_decided=i in requested) for i in chosen]
    choices = prod(map(len, kinds))
    if choices > MOST_CHOICES:
        _refuse(matrix, f"its options, places, scenarios and modes have {choices:,} combinations")
    deciding = sorted({*chosen, *decided})
    if np.prod([axes[i].count for i in decided], dtype=float) * choices > _MOST_DECIDED:
        names = ", ".join(f"`{axes[i].name}`" for i in decided)
        _refuse(matrix, f"conditions use {names}, which have too many values")
    classes_of = {i: _classes_of(alike) for i, alike in zip(chosen, kinds, strict=True)}
    classes_of |= {i: np.arange(axes[i].count) for i in decided}
    sizes = [*map(len, kinds), *(axes[i].count for i in decided)]
    group_of = np.zeros(sizes, dtype=np.int64)
    groups: list[ConfigurationGroup] = []
    for place in product(*(range(len(alike)) for alike in kinds)):
        combination = [alike[at] for alike, at in zip(kinds, place, strict=True)]
        index = [0] * len(axes)
        for i, alike in zip(chosen, combination, strict=True):
            index[i] = alike[0]
        configuration = in_force(configured(model, matrix, axes, tuple(index)))
        classes = _classes(model, axes, decided, configuration, compares)
        for number in range(int(classes.max()) + 1):
            first = np.unravel_index(int(np.argmax(classes == number)), classes.shape)
            for i, position in zip(decided, first, strict=True):
                index[i] = int(position)
            last = [axis.count - 1 for axis in axes]
            for i, alike in zip(chosen, combination, strict=True):
                last[i] = alike[-1]
            farthest = classes.size - 1 - int(np.argmax((classes == number).ravel()[::-1]))
            for i, position in zip(decided, np.unravel_index(farthest, classes.shape), strict=True):
                last[i] = int(position)
            groups.append(ConfigurationGroup(tuple(index), tuple(last)))
        group_of[place] = classes + (len(groups) - int(classes.max()) - 1)
    # The axes that are chosen come first in the table; it is handed on in the order of the axes.
    order = np.argsort([*chosen, *decided], kind="stable")
    return Structure(
        axes=axes,
        deciding=tuple(deciding),
        classes=tuple(classes_of[i] for i in deciding),
        group_of=group_of.transpose(order),
        groups=tuple(groups),
    )


def _kinds(axis: ir.Axis, *, is_decided: bool) -> tuple[tuple[int, ...], ...]:
    """Return the choices of an axis, those together that differ in numbers alone.

    None do where a condition requests the numbers.
    """
    classes = tuple(range(axis.count)) if is_decided else choice_classes(axis)
    alike: dict[object, list[int]] = {}
    for at, one in enumerate(classes):
        alike.setdefault(one, []).append(at)
    return tuple(map(tuple, alike.values()))


def _classes_of(kinds: Sequence[tuple[int, ...]]) -> Classes:
    """Return for each choice of an axis the number of those that it is one of."""
    found = np.zeros(sum(map(len, kinds)), dtype=np.int64)
    for number, alike in enumerate(kinds):
        found[list(alike)] = number
    return found


def _refuse(matrix: ir.Matrix, message: str) -> None:
    raise QpsError.single(
        codes.NO_ANSWER,
        matrix.span,
        f"matrix `{matrix.name}` is too varied: {message}",
        hint="split it into several matrices, or use fewer values on those axes",
    )


# -- conditions --------------------------------------------------------------------------


def _conditions(model: ir.Model, matrix: ir.Matrix) -> tuple[ir.Compare, ...]:
    """Return the comparisons that decide about structure."""
    parts: list[object] = [
        model.parameters, tuple(model.machines.values()), tuple(model.networks.values()),
        model.nodes, model.links, model.streams, model.measures, model.requirements,
        model.modes, model.scenarios, model.quality, matrix.columns, matrix.changes,
        tuple(axis.choices for axis in matrix.axes), _sides(model, matrix),
    ]  # fmt: skip
    compares = dict.fromkeys(
        compare for part in parts for compare in _inside(part) if isinstance(compare, ir.Compare)
    )
    return tuple(compares)


def _sides(model: ir.Model, matrix: ir.Matrix) -> tuple[ir.Expr, ...]:
    """Return what is compared in conditions on rows: only what is inside may decide anything."""
    claims = [claim for e in model.expectations for claim in e.matrix_claims]
    conditions = [matrix.wanted, *matrix.excluded]
    conditions += [c for claim in claims for c in (claim.where, claim.condition)]
    compares = [compare for condition in conditions for compare in compared(condition)]
    return tuple(side for compare in compares for side in (compare.left, compare.right))


def _inside(part: object) -> Iterator[object]:
    """Yield everything that a part of the model is made of."""
    waiting = [part]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple | list):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, Struct) and not isinstance(one, Span):
            yield one
            waiting += [getattr(one, name) for name in one.__struct_fields__]


def _rests_on(expr: ir.Expr, configuration: Configuration) -> set[str]:
    """Return the parameters that an expression rests on, directly or not."""
    found: set[str] = set()
    waiting = [expr]
    while waiting:
        for part in parts_of(waiting.pop()):
            if isinstance(part, ir.ParameterValue) and part.name not in found:
                found.add(part.name)
                waiting.append(configuration.parameters[part.name])
            elif isinstance(part, ir.NodeCount):
                nodes, links = configuration.nodes, configuration.links
                waiting.append((nodes.get(part.name) or links[part.name]).count)
            elif isinstance(part, ir.Choice):
                compares = [c for c in _inside(part.condition) if isinstance(c, ir.Compare)]
                waiting += [side for c in compares for side in (c.left, c.right)]
    return found


def _decided(
    model: ir.Model,
    matrix: ir.Matrix,
    axes: tuple[ir.Axis, ...],
    compares: tuple[ir.Compare, ...],
) -> list[int]:
    """Return the axes of parameters that conditions request, in any configuration."""
    changed_configuration = changed(base_configuration(model), matrix.changes)
    variants = [changed_configuration]
    for axis in axes:
        if axis.choices:
            variants += [
                in_force(changed(changed_configuration, [choice])) for choice in axis.choices
            ]
    options: set[str] = set()
    for configuration in variants:
        for compare in compares:
            if not _is_result(compare):
                options |= _rests_on(compare.left, configuration)
                options |= _rests_on(compare.right, configuration)
    return [i for i, axis in enumerate(axes) if any(one.name in options for one in axis.varied)]


def _is_result(compare: ir.Compare) -> bool:
    """True where a comparison is of results, so that it decides nothing about the structure."""
    kinds = ir.Measured | ir.Population | ir.Changed
    return any(
        isinstance(part, kinds) for side in (compare.left, compare.right) for part in parts_of(side)
    )


def _classes(
    model: ir.Model,
    axes: tuple[ir.Axis, ...],
    decided: list[int],
    configuration: Configuration,
    compares: tuple[ir.Compare, ...],
) -> Classes:
    """Return for each combination of deciding parameters the number of its class."""
    shape = tuple(axes[i].count for i in decided)
    signature = np.zeros(shape, dtype=np.int64)
    at = {one.name: position for position, i in enumerate(decided) for one in axes[i].varied}
    for compare in compares:
        if _is_result(compare):
            continue
        names = _rests_on(compare.left, configuration) | _rests_on(compare.right, configuration)
        own = sorted({at[name] for name in names if name in at})
        if own:
            truths = _comparison_classes(
                model, axes, [decided[o] for o in own], configuration, compare
            )
            signature = _renumbered(signature * 3 + _spread(truths, own, len(shape)))
    return signature


def _comparison_classes(
    model: ir.Model,
    axes: tuple[ir.Axis, ...],
    own: list[int],
    configuration: Configuration,
    compare: ir.Compare,
) -> Classes:
    """Return how a comparison comes out for each combination: 0 no, 1 yes, 2 undetermined."""
    truths = np.zeros([axes[i].count for i in own], dtype=np.int64)
    for index in np.ndindex(truths.shape):
        chosen = [(axes[i], at) for i, at in zip(own, index, strict=True)]
        holds = _is_true(model, along(configuration, chosen), compare)
        truths[index] = 2 if holds is None else int(holds)
    return truths


def _is_true(model: ir.Model, configuration: Configuration, compare: ir.Compare) -> bool | None:
    """Return whether a comparison of inputs is true, None where a side has no value."""
    try:
        holds = Folder(configuration=configuration, population=Fraction(configuration.low)).holds(
            compare
        )
    except (CircleError, NoValueError, ValueTooLargeError):
        return None
    if holds is not None:
        return holds
    users = population(model.population.name)
    try:
        return ExpressionLowering(model=model, configuration=configuration, population=users).holds(
            compare
        )
    except QpsError:
        return None


def _spread(values: Classes, own: list[int], dimensions: int) -> Classes:
    """Return values of some axes in a shape that goes with all of them."""
    shape = [1] * dimensions
    for position, count in zip(own, values.shape, strict=True):
        shape[position] = count
    return values.reshape(shape)


def _renumbered(signature: Classes) -> Classes:
    """Return classes numbered from zero on, without gaps."""
    _, inverse = np.unique(signature, return_inverse=True)
    return inverse.reshape(signature.shape).astype(np.int64)
