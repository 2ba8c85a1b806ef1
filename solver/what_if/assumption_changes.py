"""What differs between two specs: options, the range, places, numbers, ways of waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force
from qps.compiler.configure.settable_numbers import places_of_numbers
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.certainty_requirements import as_stated
from qps.compiler.lower.load_graph import Assumption
from qps.compiler.lower.lowering import lower
from qps.compiler.quantities.dimension import Dimension
from qps.engine.expressions.point_values import in_floats
from qps.solver.what_if.place_changes import PlaceChange, kind_of, place_change, places_of

_Pair = TypeVar("_Pair")


class AssumptionChangeKind(StrEnum):
    """Kind of a change."""

    NUMBER = "number"
    OPTION = "option"
    RANGE = "range"
    PLACE = "place"
    """The machine of a node or the network of a link, and how many there are."""
    HARDWARE = "hardware"
    """The same, where the other spec could not have it: it is part of the formulas."""
    DISCIPLINE = "discipline"
    FORMULAS = "formulas"
    FIXED = "fixed"
    """A number that is no parameter, where samples give the answer: it is part of the formulas."""
    SPREAD = "spread"
    """How far off a number may be, where no requirement states a confidence: the answer stays."""

    @property
    def moves(self) -> bool:
        """Return whether a change of this kind can be applied alone."""
        return self not in (self.HARDWARE, self.DISCIPLINE, self.FIXED, self.SPREAD)


class AssumptionChange(Struct, frozen=True, kw_only=True, rename={"dimension": "unit"}):
    """A changed number or option, as written in the specs, with values in base units.

    `modes` lists the modes to which it applies; if empty, it applies to all modes that do not
    override it. The effects on capacity are in users: `alone` is the effect of this change only,
    `step` is its effect after all previous changes, and `share` is its Shapley value (L. S.
    Shapley, A value for n-person games, 1953). They are None if an intermediate spec has no result.
    `within_error` is true if `alone` is smaller than the model error.
    """

    name: str
    kind: AssumptionChangeKind
    before: str = ""
    after: str = ""
    modes: tuple[str, ...] = ()
    dimension: Dimension | None = None
    values: tuple[float, float] | None = None
    alone: int | None = None
    step: int | None = None
    share: float | None = None
    within_error: bool = False

    @property
    def key(self) -> str:
        """Return a name that is unique among the changes of two specs."""
        return f"{self.name} in {', '.join(self.modes)}" if self.modes else self.name


class ConfiguredModel(Struct, frozen=True, dict=True):
    """A model in one configuration."""

    model: ir.Model
    configuration: Configuration

    @cached_property
    def by_mode(self) -> Mapping[str | None, Configuration]:
        """The configuration in each mode, by its name."""
        return {one.mode: one for one in in_each_mode(self.model, self.configuration)}

    @cached_property
    def numbers(self) -> Mapping[str, Assumption]:
        """All numbers of all modes, by name: of several, that of the first mode."""
        found: dict[str, Assumption] = {}
        for known in self._numbers_by_mode.values():
            found |= {name: one for name, one in known.items() if name not in found}
        return found

    @cached_property
    def decided(self) -> frozenset[str]:
        """The parameters that a condition of any mode uses."""
        graphs = (lower(self._as_stated, one) for one in self.by_mode.values())
        return frozenset().union(*(graph.basis.decided for graph in graphs))

    @cached_property
    def places(self) -> Mapping[str, str]:
        """The node or link of each number of what stands there."""
        return places_of_numbers(self.model, self.configuration)

    def configured(self, mode: str | None) -> Configuration:
        """Return what is in force in a mode; outside of any where there is none such."""
        return in_force(self.by_mode.get(mode, self.configuration))

    def numbers_in(self, mode: str | None) -> Mapping[str, Assumption]:
        """Return the numbers of a mode, whatever is promised; those outside of any likewise."""
        return self._numbers_by_mode.get(mode) or self._outside_modes

    def sets(self, mode: str | None, name: str) -> bool:
        """Return whether a mode sets something itself."""
        is_chosen = self.configuration.mode is not None
        one = None if is_chosen else self.by_mode.get(mode)
        changes = () if one is None else one.mode_changes
        return any(
            not isinstance(change, _OF_ALL) and f"{name}.".startswith(f"{change.name}.")
            for change in changes
        )

    @cached_property
    def _as_stated(self) -> ir.Model:
        return as_stated(self.model, self.configuration)

    @cached_property
    def _numbers_by_mode(self) -> Mapping[str | None, Mapping[str, Assumption]]:
        return {mode: lower(self._as_stated, one).assumptions for mode, one in self.by_mode.items()}

    @cached_property
    def _outside_modes(self) -> Mapping[str, Assumption]:
        try:
            return lower(self._as_stated, self.configuration).assumptions
        except QpsError:  # what the modes set makes it whole
            return self.numbers


_OF_ALL = (ir.SetPopulation, ir.SetCase, ir.SetMode, ir.SetScenario, ir.LoseMachines)
"""Changes that name no single part of the model, and failures, which set no number themselves."""


class Sides(Struct, frozen=True, dict=True):
    """Two specs that are compared."""

    old: ConfiguredModel
    new: ConfiguredModel

    @cached_property
    def modes(self) -> tuple[str | None, ...]:
        """The modes of both, and None for what holds outside of any."""
        shared = [mode for mode in self.new.by_mode if mode in self.old.by_mode]
        is_chosen = self.new.configuration.mode is not None
        return tuple(shared) if shared and is_chosen else (*filter(None, shared), None)

    def applies(self, change: AssumptionChange, mode: str | None) -> bool:
        """Return whether a change is one of a mode."""
        return mode in change.modes if change.modes else not self._is_set_in(mode, change.name)

    def changes(self, *, is_sampled: bool) -> list[AssumptionChange]:
        """Return every change that has a name, in the order of the new spec.

        With `is_sampled`, samples determine the answers: what is no parameter cannot be set in
        them.
        """
        places = list(self._places())
        return [
            *self._options(),
            *self._range(),
            *places,
            *self._numbers([one.name for one in places], is_sampled=is_sampled),
        ]

    def disciplines(self) -> Iterator[AssumptionChange]:
        """Yield where another way of waiting is stated; what it moves is part of the formulas."""
        before, after = (_stated_disciplines(side) for side in (self.old, self.new))
        for place, stated in after.items():
            if before.get(place, stated) != stated:
                yield AssumptionChange(
                    name=f"{place}.queueing",
                    kind=AssumptionChangeKind.DISCIPLINE,
                    before=before[place],
                    after=stated,
                )

    def _options(self) -> Iterator[AssumptionChange]:
        """Yield the options of which both specs know both choices."""
        before, after = (
            {option.name: option.choices for option in side.model.options}
            for side in (self.old, self.new)
        )

        def chosen(name: str, mode: str | None) -> tuple[str, str] | None:
            here, there = (side.configured(mode).options[name] for side in (self.old, self.new))
            is_known = {here, there} <= set(before[name]) & set(after[name])
            return (here, there) if here != there and is_known else None

        for name in after.keys() & before.keys():
            for modes, (here, there) in self._of_modes(name, chosen):
                yield AssumptionChange(
                    name=name,
                    kind=AssumptionChangeKind.OPTION,
                    before=here,
                    after=there,
                    modes=modes,
                )

    def _range(self) -> Iterator[AssumptionChange]:
        a, b = self.old.configuration, self.new.configuration
        if (a.low, a.high) != (b.low, b.high):
            yield AssumptionChange(
                name=self.new.model.population.name,
                kind=AssumptionChangeKind.RANGE,
                before=f"{a.low}..{a.high}",
                after=f"{b.low}..{b.high}",
            )

    def _places(self) -> Iterator[AssumptionChange]:
        before, after = (places_of(side.configuration) for side in (self.old, self.new))
        models = self.old.model, self.new.model

        def standing(name: str, mode: str | None) -> PlaceChange | None:
            here, there = (side.configured(mode).place(name) for side in (self.old, self.new))
            return place_change(models, here, there)

        for name in after:
            for modes, one in self._of_modes(name, standing) if name in before else ():
                yield AssumptionChange(
                    name=name,
                    kind=AssumptionChangeKind.PLACE
                    if one.is_settable
                    else AssumptionChangeKind.HARDWARE,
                    before=one.before,
                    after=one.after,
                    modes=modes,
                )

    def _numbers(self, moved_places: list[str], *, is_sampled: bool) -> Iterator[AssumptionChange]:
        """Yield numbers, but those that other hardware in a place brings with it."""

        def stated(name: str, mode: str | None) -> _Numbers | None:
            here, there = (side.numbers_in(mode).get(name) for side in (self.old, self.new))
            if here is None or there is None:
                return None
            is_other = here.value != there.value
            if not is_other and not self._spreads_otherwise(name):
                return None
            place = self.new.places.get(name)
            if place in moved_places and self._is_of_another_kind(place, mode):
                return None
            values = in_floats(here.value), in_floats(there.value)
            return _Numbers(
                before=here.text,
                after=there.text,
                dimension=there.dimension,
                values=values,
                is_other=is_other,
            )

        for name in self.new.numbers:
            for modes, one in self._of_modes(name, stated):
                kind = (
                    AssumptionChangeKind.FIXED
                    if self._is_fixed(name)
                    else AssumptionChangeKind.NUMBER
                )
                if not is_sampled:
                    kind = (
                        AssumptionChangeKind.NUMBER if one.is_other else AssumptionChangeKind.SPREAD
                    )
                yield AssumptionChange(
                    name=name,
                    kind=kind,
                    before=one.before,
                    after=one.after,
                    modes=modes,
                    dimension=one.dimension,
                    values=one.values,
                )

    def _of_modes(
        self, name: str, pair: Callable[[str, str | None], _Pair | None]
    ) -> Iterator[tuple[tuple[str, ...], _Pair]]:
        """Yield what a name is before and after, with the modes that it is so in.

        There are none where it is so in all modes that do not set it themselves.
        """
        own: dict[_Pair, list[str]] = {}
        common: dict[_Pair, list[str]] = {}
        for mode in self.modes:
            found = pair(name, mode)
            if found is not None:
                sort = own if self._is_set_in(mode, name) else common
                sort.setdefault(found, []).extend([] if mode is None else [mode])
        if len(common) == 1:
            yield (), next(iter(common))
        else:
            own |= common
        for found, modes in own.items():
            yield tuple(modes), found

    def _is_set_in(self, mode: str | None, name: str) -> bool:
        return self.old.sets(mode, name) or self.new.sets(mode, name)

    def _is_of_another_kind(self, place: str, mode: str | None) -> bool:
        here, there = (kind_of(side.configured(mode).place(place)) for side in (self.old, self.new))
        return here != there

    def _is_fixed(self, name: str) -> bool:
        """Return whether a number cannot be set where samples are drawn: it is no parameter.

        Nor can a number that is fitted to a table with others be taken from them.
        """
        values = [side.configuration.parameters.get(name) for side in (self.old, self.new)]
        return None in values or any(
            isinstance(one, ir.Uncertain) and isinstance(one.distribution, ir.Fitted)
            for one in values
        )

    def _spreads_otherwise(self, name: str) -> bool:
        """Return whether a number is more or less certain than it was."""
        return _spread(self.old, name) != _spread(self.new, name)


class _Numbers(Struct, frozen=True, kw_only=True):
    """A number before and after."""

    before: str
    after: str
    dimension: Dimension
    values: tuple[float, float]
    is_other: bool


def _spread(side: ConfiguredModel, name: str) -> ir.Distribution | None:
    """Return how far off a number may be; of a fitted one, wherever its table is."""
    value = side.configuration.parameters.get(name)
    if not isinstance(value, ir.Uncertain):
        return None
    if isinstance(value.distribution, ir.Fitted):
        return replace(value.distribution, table="")
    return value.distribution


def _stated_disciplines(side: ConfiguredModel) -> dict[str, str]:
    """Return how whatever arrives waits at each resource and link, in the words of the spec."""
    found: dict[str, str] = {}
    for node in side.configuration.nodes.values():
        machine = ir.machine_at(side.model, node)
        for resource in machine.resources if machine is not None else ():
            found[f"{node.name}.{resource.name}"] = _written(resource.queueing)
    for link in side.configuration.links.values():
        network = ir.network_at(side.model, link)
        found[link.name] = _written(None if network is None else network.queueing)
    return found


def _written(queueing: ir.Queueing | None) -> str:
    return ir.Discipline.NONE.value if queueing is None else queueing.written
