"""The configurations to choose from: for each choice its options, as structures and numbers.

Options that differ in numbers alone share one lowered graph, in which these numbers are symbols:
how many machines there are in a place, and what these can do. All other options (networks of
another medium, machines with other resources, alternatives of an option) make structures.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.conditional_paths import may_be_left_out
from qps.compiler.configure.configuration import (
    Configuration,
    changed,
    in_each_mode,
)
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.ir.placed_numbers import numbers_in
from qps.compiler.quantities.dimension import DIMENSIONLESS

Hardware = ir.Machine | ir.Network

MOST_OPTIONS = 10_000
"""Values of one choice: all of them are in tables."""


class DesignOption(Struct, frozen=True, kw_only=True):
    """One value of a choice: its change of the model, and the same as `numbers` in a structure.

    Options of the same `structure` differ in numbers alone; that is the place of the option by
    which they are lowered. One `is_possible` unless no machine is there, or left after a
    failure, and streams cannot go without.
    """

    label: str
    change: ir.Change
    structure: int
    numbers: Mapping[str, Fraction]
    is_possible: bool = True


class DesignAxis(Struct, frozen=True, kw_only=True):
    """What is chosen, and its options."""

    name: str
    options: tuple[DesignOption, ...]


class DesignSpace(Struct, frozen=True, kw_only=True):
    """All configurations to choose from; the `model` has a parameter for each number chosen."""

    model: ir.Model
    configuration: Configuration
    axes: tuple[DesignAxis, ...]

    @property
    def size(self) -> int:
        """How many configurations there are."""
        return prod(len(axis.options) for axis in self.axes)

    def numbers_in(self, structure: Sequence[int]) -> dict[str, list[Fraction]]:
        """Return the numbers that are chosen in a structure, each with all of its values."""
        found: dict[str, list[Fraction]] = {}
        for axis, at in zip(self.axes, structure, strict=True):
            for option in axis.options:
                if option.structure == at and option.is_possible:
                    for name, value in option.numbers.items():
                        found.setdefault(name, []).append(value)
        return found

    @property
    def number_names(self) -> set[str]:
        """The names of the numbers that are chosen."""
        return {name for axis in self.axes for one in axis.options for name in one.numbers}

    @property
    def structure_count(self) -> int:
        """How many structures there are."""
        return prod(len({one.structure for one in axis.options}) for axis in self.axes)

    def structures(self) -> Iterator[tuple[int, ...]]:
        """Yield each structure, by the option of each axis with which it is lowered."""
        yield from product(*(_structures(axis) for axis in self.axes))

    def lowered_with(self, structure: Sequence[int]) -> Configuration:
        """Return the configuration by which a structure is lowered: its numbers are parameters."""
        changes: list[ir.Change] = []
        for axis, at in zip(self.axes, structure, strict=True):
            alike = [one for one in reversed(axis.options) if one.structure == at]
            option = max(alike, key=lambda one: one.is_possible)
            changes.append(_with_counted(option.change, option.numbers))
            changes += [
                ir.SetParameter(name, ir.Constant(value), option.change.span)
                for name, value in option.numbers.items()
                if not (isinstance(option.change, ir.SetParameter) and option.change.name == name)
            ]
        return changed(self.configuration, changes)

    def configured(self, chosen: Sequence[int]) -> Configuration:
        """Return a configuration as a spec would state it."""
        changes = [axis.options[at].change for axis, at in zip(self.axes, chosen, strict=True)]
        return changed(self.configuration, changes)

    def split(self, names: frozenset[str]) -> DesignSpace:
        """Return the same where options that differ in some of the numbers are structures."""
        return replace(self, axes=tuple(_split(axis, names) for axis in self.axes))


def machines_of(place: str) -> str:
    """Return the name of the number of machines or networks in a place."""
    return f"machines of {place}"


def design_space(
    model: ir.Model, configuration: Configuration, axes: Sequence[ir.Axis]
) -> DesignSpace:
    """Return the configurations that a product of axes has."""
    parameters: dict[str, ir.Parameter] = {}
    made = tuple(
        DesignAxis(name=axis.name, options=tuple(_options(model, configuration, axis, parameters)))
        for axis in axes
    )
    known = {one.name for one in model.parameters}
    new = {name: one for name, one in parameters.items() if name not in known}
    values = {name: one.value for name, one in new.items()}
    spans = {name: one.value_span for name, one in new.items()}
    places = {name: one.place for name, one in new.items() if one.place is not None}
    return DesignSpace(
        model=replace(model, parameters=(*model.parameters, *new.values())),
        configuration=replace(
            configuration,
            parameters=configuration.parameters | values,
            values_from=configuration.values_from | spans,
            of_places={**configuration.of_places, **places},
        ),
        axes=made,
    )


def _options(
    model: ir.Model,
    configuration: Configuration,
    axis: ir.Axis,
    parameters: dict[str, ir.Parameter],
) -> Iterator[DesignOption]:
    """Yield the options of an axis, and note the parameters that they need."""
    if axis.count > MOST_OPTIONS:
        raise _too_many_options(axis)
    changes = [axis.change(at) for at in range(axis.count)]
    losses = list(_losses(model, configuration, axis.name))
    folder = Folder(configuration=configuration, population=Fraction(configuration.low))
    scarce = {at for at, one in enumerate(changes) if _is_scarce(one, losses, folder)}
    can_be_empty = bool(scarce) and may_be_left_out(model, axis.name)
    apart = {id(changes[at]) for at in scarce} if can_be_empty else set[int]()
    numbers = _placed_numbers(model, configuration, changes, parameters, apart)
    first: dict[object, int] = {}
    for at, change in enumerate(changes):
        if isinstance(change, ir.SetParameter):
            key: object = ()
            own: Mapping[str, Fraction] = {change.name: axis.number(at)}
        elif isinstance(change, ir.SetPlace):
            key, own = numbers[at]
        else:
            key, own = at, {}
        yield DesignOption(
            label=axis.value_label(at),
            change=change,
            structure=first.setdefault(key, at),
            numbers=own,
            is_possible=can_be_empty or at not in scarce,
        )


def _too_many_options(axis: ir.Axis) -> QpsError:
    return QpsError.single(
        codes.NO_ANSWER,
        axis.span,
        f"`{axis.name}` has {axis.count:,} values to choose from; at most {MOST_OPTIONS:,} are "
        "compared",
        hint="use a shorter range, or larger steps: `1..64 by 4`",
    )


def _losses(model: ir.Model, configuration: Configuration, place: str) -> Iterator[ir.LoseMachines]:
    """Yield the failures of a place that must be survived, where no mode says what stands there."""
    for each in in_each_mode(model, configuration):
        own = [one for one in each.mode_changes if getattr(one, "name", None) == place]
        if all(isinstance(one, ir.LoseMachines) for one in own):
            yield from (one for one in own if isinstance(one, ir.LoseMachines))


def _is_scarce(change: ir.Change, losses: Sequence[ir.LoseMachines], folder: Folder) -> bool:
    """Return whether a change places no machine, or none is left of these after a failure."""
    if not isinstance(change, ir.SetPlace) or not isinstance(change.count, ir.Constant):
        return False
    left = (folder.fold(one) for one in (change.count, *(one.left(change.count) for one in losses)))
    return any(count is not None and count <= 0 for count in left)


def _placed_numbers(
    model: ir.Model,
    configuration: Configuration,
    changes: Sequence[ir.Change],
    parameters: dict[str, ir.Parameter],
    apart: Container[int],
) -> list[tuple[object, Mapping[str, Fraction]]]:
    """Return for each machine of an axis what its structure is, and its numbers in that.

    How many there are is of the structure for changes that stand `apart`, by their identities.
    """
    placed = [change for change in changes if isinstance(change, ir.SetPlace)]
    if not placed:
        return []
    place = placed[0].name
    kinds = {one.kind: _hardware(model, place, one.kind) for one in placed}
    alike: dict[object, list[str]] = {}
    for name, hardware in kinds.items():
        alike.setdefault(_structure_of(hardware), []).append(name)
    varying: dict[str, dict[str, Fraction]] = {}
    for names in alike.values():
        found = {name: _constants(kinds[name]) for name in names}
        words = [
            word
            for word in found[names[0]]
            if len({constants[word] for constants in found.values()}) > 1
        ]
        for name in names:
            varying[name] = {f"{place}.{word}": found[name][word] for word in words}
        stated = numbers_in(kinds[names[0]])
        for word in words:
            parameters[f"{place}.{word}"] = ir.parameter_of(
                stated[word], name=f"{place}.{word}", source=None, place=place
            )
    count = _count_parameter(configuration, place, placed)
    if count is not None:
        parameters[count.name] = count
    made: list[tuple[object, Mapping[str, Fraction]]] = []
    for one in placed:
        key: list[object] = [_structure_of(kinds[one.kind])]
        numbers = dict(varying[one.kind])
        stands = configuration.place(place).count if one.count is None else one.count
        if count is not None and isinstance(stands, ir.Constant) and id(one) not in apart:
            numbers[count.name] = stands.value
        else:
            key.append(repr(one.count))
        made.append((tuple(key), numbers))
    return made


def _count_parameter(
    configuration: Configuration, place: str, placed: Sequence[ir.SetPlace]
) -> ir.Parameter | None:
    """Return a parameter for how many machines stand in a place; None where that is not chosen."""
    stands = configuration.place(place)
    for one in placed:
        if isinstance(one.count, ir.Constant):
            return ir.Parameter(
                name=machines_of(place),
                value=one.count,
                dimension=DIMENSIONLESS,
                low=None,
                high=None,
                span=stands.span,
                value_span=one.span,
                source=None,
                doc=None,
            )
    return None


def _hardware(model: ir.Model, place: str, kind: str) -> Hardware:
    is_node = any(node.name == place for node in model.nodes)
    return model.machines[kind] if is_node else model.networks[kind]


def _structure_of(hardware: Hardware) -> object:
    """Return what machines or networks must share to differ in numbers alone.

    One whose numbers are computed from others shares it with none.
    """
    numbers = numbers_in(hardware)
    if not all(isinstance(one.expr, ir.Constant) for one in numbers.values()):
        return hardware.name
    words = tuple((word, one.dimension) for word, one in numbers.items())
    never_fails = hardware.failures is None
    if isinstance(hardware, ir.Network):
        own = (hardware.medium, _discipline(hardware.queueing), hardware.law_holds_rate)
        return words, own, never_fails or hardware.name
    resources = tuple(
        (one.name, one.kind, one.work, _discipline(one.queueing), one.law_holds_speed)
        for one in hardware.resources
    )
    ratings = tuple(base for base, _ in hardware.ratings)
    return words, resources, ratings, never_fails or hardware.name


def _discipline(queueing: ir.Queueing | None) -> object:
    return (
        None
        if queueing is None
        else (
            queueing.discipline,
            queueing.is_preemptive,
            len(queueing.speeds),
        )
    )


def _constants(hardware: Hardware) -> dict[str, Fraction]:
    found = numbers_in(hardware).items()
    return {word: one.expr.value for word, one in found if isinstance(one.expr, ir.Constant)}


def _with_counted(change: ir.Change, numbers: Mapping[str, Fraction]) -> ir.Change:
    """Return a change of a place whose number of machines is a parameter."""
    if not isinstance(change, ir.SetPlace) or machines_of(change.name) not in numbers:
        return change
    return replace(change, count=ir.ParameterValue(machines_of(change.name)))


def _structures(axis: DesignAxis) -> list[int]:
    return list(dict.fromkeys(option.structure for option in axis.options))


def _split(axis: DesignAxis, names: frozenset[str]) -> DesignAxis:
    """Return an axis whose options share a structure only where they share some numbers."""
    first: dict[object, int] = {}
    options = []
    for at, option in enumerate(axis.options):
        shared = tuple((n, value) for n, value in option.numbers.items() if n in names)
        structure = first.setdefault((option.structure, shared), at)
        options.append(replace(option, structure=structure))
    return replace(axis, options=tuple(options))
