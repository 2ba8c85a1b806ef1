"""What changed between two specs, and which change moved the answer by how much.

Every difference is a *change* that can be made or left: an option, a number, the range of the
population, and one for all that remains (other steps, streams, machines, requirements: the
formulas). The answer with some of the changes made is that of the old spec with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct, field, structs
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed, in_each_mode
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.certainty_asked import as_stated
from qps.compiler.lower.load_graph import Assumption, LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.quantities.dimension import Dimension
from qps.engine.points import in_floats
from qps.solver.answers.answering import largest_acceptable
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.place_changes import kind_of, place_changes, places_of
from qps.solver.what_if.shapley import moved_by, shapley

MOST_SHARED = 8
"""Changes up to which Shapley values are computed: they need 2^n answers."""
_MOST_SAMPLED = 4
"""The same, where each answer is what samples promise."""

Promising = Callable[[ir.Model, Configuration], ir.Model]
"""Finds what is promised by requirements that ask for certainty."""


class ChangeKind(StrEnum):
    """What a change is of."""

    NUMBER = "number"
    OPTION = "option"
    RANGE = "range"
    PLACE = "place"
    """The machine of a node or the network of a link, and how many there are."""
    DISCIPLINE = "discipline"
    FORMULAS = "formulas"
    FIXED = "fixed"
    """A number that is no parameter, where samples tell the answer: it is part of the formulas."""
    SPREAD = "spread"
    """How far off a number may be, where no requirement asks for certainty: the answer stays."""


_UNMOVED = (ChangeKind.FIXED, ChangeKind.SPREAD)
"""Changes that are told, and that no answer on the way is asked of."""


class AssumptionChange(Struct, frozen=True, kw_only=True, rename={"dimension": "unit"}):
    """A number or choice before and after, as the specs write it; values in base units.

    `alone` is what the old answer moves by when this change is made alone, `step` by what the
    answer moves when it is made after all changes that stand before it, `share` its Shapley value
    (L. S. Shapley, A value for n-person games, 1953), all in users; None where an answer on the
    way does not exist.
    """

    name: str
    kind: ChangeKind
    before: str = ""
    after: str = ""
    dimension: Dimension | None = None
    values: tuple[float, float] | None = None
    alone: int | None = None
    step: int | None = None
    share: float | None = None


class Difference(Struct, frozen=True, kw_only=True):
    """Two solutions, and all that differs between the specs; `added` and `removed` are numbers."""

    old: Solution
    new: Solution
    added: tuple[Assumption, ...]
    removed: tuple[Assumption, ...]
    changes: tuple[AssumptionChange, ...]

    @property
    def users(self) -> int:
        """How many more users the new spec carries; none counts as 0."""
        return (self.new.largest_acceptable or 0) - (self.old.largest_acceptable or 0)


class Side(Struct, frozen=True):
    """A model in one configuration."""

    model: ir.Model
    configuration: Configuration


def difference(old: Side, new: Side, promising: Promising | None = None) -> Difference:
    """Return what differs between two specs, and how much of the answer each change explains.

    Where requirements ask for certainty, `promising` finds what can be promised, of each answer on
    the way as well.
    """
    before, after = (_assumptions(side) for side in (old, new))
    is_sampled = any(as_stated(s.model, s.configuration) is not s.model for s in (old, new))
    bench = _Bench(
        old=old,
        new=new,
        before=before,
        after=after,
        promising=promising if is_sampled else None,
    )
    changes = _changes(old, new, before, after, bench)
    return Difference(
        old=solve_model(bench.judged(old), old.configuration),
        new=solve_model(bench.judged(new), new.configuration),
        added=tuple(a for name, a in after.items() if name not in before),
        removed=tuple(a for name, a in before.items() if name not in after),
        changes=(*_told(changes, bench), *_disciplines(old, new)),
    )


def _disciplines(old: Side, new: Side) -> list[AssumptionChange]:
    """Return where another way of waiting is stated; what it moves is part of the formulas."""
    before, after = _stated_disciplines(old), _stated_disciplines(new)
    return [
        AssumptionChange(
            name=f"{place}.queueing", kind=ChangeKind.DISCIPLINE, before=before[place], after=stated
        )
        for place, stated in after.items()
        if before.get(place, stated) != stated
    ]


def _stated_disciplines(side: Side) -> dict[str, str]:
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
    if queueing is None:
        return ir.Discipline.NONE.value
    return queueing.written


def _graphs(model: ir.Model, configuration: Configuration) -> list[LoadGraph]:
    return [lower(model, each) for each in in_each_mode(model, configuration)]


def _as_stated(side: Side) -> list[LoadGraph]:
    """Return graphs that tell values, whatever is promised."""
    return _graphs(as_stated(side.model, side.configuration), side.configuration)


def _assumptions(side: Side) -> dict[str, Assumption]:
    """Return all numbers of all modes, by name."""
    found: dict[str, Assumption] = {}
    for graph in _as_stated(side):
        found |= {name: a for name, a in graph.assumptions.items() if name not in found}
    return found


def _changes(
    old: Side,
    new: Side,
    before: dict[str, Assumption],
    after: dict[str, Assumption],
    bench: _Bench,
) -> list[AssumptionChange]:
    """Return every change, in the order of the new spec, the formulas last."""
    a, b = old.configuration, new.configuration
    found = [
        AssumptionChange(
            name=name, kind=ChangeKind.OPTION, before=a.options[name], after=b.options[name]
        )
        for name in b.options
        if _is_moved_option(name, old, new)
    ]
    if (a.low, a.high) != (b.low, b.high):
        name = new.model.population.name
        found.append(
            AssumptionChange(
                name=name,
                kind=ChangeKind.RANGE,
                before=f"{a.low}..{a.high}",
                after=f"{b.low}..{b.high}",
            )
        )
    found += [
        AssumptionChange(name=name, kind=ChangeKind.PLACE, before=here, after=there)
        for name, here, there in place_changes((old.model, a), (new.model, b))
    ]
    for name, there in after.items():
        here = before.get(name)
        if here is not None and (here.value != there.value or bench.spreads_otherwise(name)):
            found.append(
                AssumptionChange(
                    name=name,
                    kind=bench.kind(name, is_other=here.value != there.value),
                    before=here.text,
                    after=there.text,
                    dimension=there.dimension,
                    values=(in_floats(here.value), in_floats(there.value)),
                )
            )
    if bench.formulas_differ([one.name for one in found if one.kind not in _UNMOVED]):
        found.append(AssumptionChange(name="formulas", kind=ChangeKind.FORMULAS))
    return found


def _is_moved_option(name: str, old: Side, new: Side) -> bool:
    """Return whether both specs know both choices of an option, and choose differently."""
    here, there = old.configuration.options.get(name), new.configuration.options[name]
    choices = [
        {option.name: option.choices for option in side.model.options}.get(name, ())
        for side in (old, new)
    ]
    return here != there and all({here, there} <= set(known) for known in choices)


# -- answers on the way ----------------------------------------------------------------------


class _Bench(Struct, kw_only=True):
    """Answers with some of the changes made; each set of formulas is lowered once."""

    old: Side
    new: Side
    before: dict[str, Assumption]
    after: dict[str, Assumption]
    promising: Promising | None = None
    """Where samples tell the answers."""
    _lowered: dict[object, list[LoadGraph]] = field(default_factory=dict)
    _answers: dict[frozenset[str], int | None] = field(default_factory=dict)
    _relowered: frozenset[str] | None = None

    def judged(self, side: Side) -> ir.Model:
        """Return the model of a side with all that its answer is judged by."""
        if self.promising is None:
            return side.model
        return self.promising(side.model, side.configuration)

    def is_fixed(self, name: str) -> bool:
        """Return whether a number cannot be set where samples are drawn: it is no parameter.

        Nor can a number that is fitted to a table with others be taken from them.
        """
        if self.promising is None:
            return False
        values = [side.configuration.parameters.get(name) for side in (self.old, self.new)]
        return None in values or any(
            isinstance(one, ir.Uncertain) and isinstance(one.distribution, ir.Fitted)
            for one in values
        )

    def spreads_otherwise(self, name: str) -> bool:
        """Return whether a number is more or less certain than it was."""
        return _spread(self.old, name) != _spread(self.new, name)

    def kind(self, name: str, *, is_other: bool) -> ChangeKind:
        """Return the kind of a change of a number, whether or not it `is_other` than it was."""
        if self.promising is None and not is_other:
            return ChangeKind.SPREAD
        return ChangeKind.FIXED if self.is_fixed(name) else ChangeKind.NUMBER

    def answer(self, made: frozenset[str], changes: Sequence[AssumptionChange]) -> int | None:
        """Return the largest acceptable population, 0 for none; None where it cannot be said."""
        if made not in self._answers:
            try:
                graphs = [self._with_numbers(g, made, changes) for g in self._lower(made, changes)]
                self._answers[made] = min(largest_acceptable(graph) or 0 for graph in graphs)
            except QpsError:
                # Half-way between two specs may lie one that no machine can run.
                self._answers[made] = None
        return self._answers[made]

    def formulas_differ(self, names: Sequence[str]) -> bool:
        """Return whether the specs still differ when all that has a name is made alike."""
        changes = [AssumptionChange(name=name, kind=self._kind(name)) for name in names]
        made = frozenset(names)
        try:
            graphs = self._lower(made, changes)
        except QpsError:
            return True
        there = _graphs(self.judged(self.new), self.new.configuration)
        moved = [self._with_numbers(graph, made, changes) for graph in graphs]
        return [_essence(graph) for graph in moved] != [_essence(graph) for graph in there]

    def _kind(self, name: str) -> ChangeKind:
        if name in self.new.configuration.options:
            return ChangeKind.OPTION
        if name in places_of(self.new.configuration):
            return ChangeKind.PLACE
        is_population = name == self.new.model.population.name
        return ChangeKind.RANGE if is_population else ChangeKind.NUMBER

    def _lower(self, made: frozenset[str], changes: Sequence[AssumptionChange]) -> list[LoadGraph]:
        """Return the graphs with the changes made that give other formulas."""
        is_new = any(c.kind is ChangeKind.FORMULAS and c.name in made for c in changes)
        settings: list[ir.Change] = []
        for change in changes:
            setting = self._setting(change, is_made=change.name in made)
            settings += [] if setting is None else [setting]
        key = (is_new, tuple(repr(setting) for setting in settings))
        if key not in self._lowered:
            side = self.new if is_new else self.old
            configuration = changed(side.configuration, settings)
            own = replace(side, configuration=configuration)
            self._lowered[key] = _graphs(self.judged(own), configuration)
        return self._lowered[key]

    def _setting(self, change: AssumptionChange, *, is_made: bool) -> ir.Change | None:
        """Return a change as a setting of the spec, where a number in the graph will not do."""
        side = self.new if is_made else self.old
        if change.kind is ChangeKind.OPTION:
            return ir.SetOption(change.name, side.configuration.options[change.name], _span(side))
        if change.kind is ChangeKind.RANGE:
            return ir.SetPopulation(side.configuration.low, side.configuration.high, _span(side))
        if change.kind is ChangeKind.PLACE:
            place = side.configuration.place(change.name)
            return ir.SetPlace(change.name, kind_of(place), place.count, _span(side))
        if change.kind is not ChangeKind.NUMBER:
            return None
        value = side.configuration.parameters.get(change.name)
        if self.promising is not None and isinstance(value, ir.Uncertain):
            return ir.SetParameter(change.name, value, _span(side))
        if self.promising is not None or change.name in self._decided():
            constant = ir.Constant((self.after if is_made else self.before)[change.name].fraction)
            return ir.SetParameter(change.name, constant, _span(side))
        return None

    def _decided(self) -> frozenset[str]:
        """Return the parameters that a condition of either spec asks for."""
        if self._relowered is None:
            graphs = [graph for side in (self.old, self.new) for graph in _as_stated(side)]
            self._relowered = frozenset().union(*(graph.decided for graph in graphs))
        return self._relowered

    def _with_numbers(
        self, graph: LoadGraph, made: frozenset[str], changes: Sequence[AssumptionChange]
    ) -> LoadGraph:
        numbers = [change.name for change in changes if change.kind is ChangeKind.NUMBER]
        return graph.with_values(
            {name: (self.after if name in made else self.before)[name].value for name in numbers}
        )


def _spread(side: Side, name: str) -> ir.Distribution | None:
    """Return how far off a number may be; of a fitted one, wherever its table is."""
    value = side.configuration.parameters.get(name)
    if not isinstance(value, ir.Uncertain):
        return None
    if isinstance(value.distribution, ir.Fitted):
        return replace(value.distribution, table="")
    return value.distribution


def _span(side: Side) -> Span:
    span = side.model.population.span
    assert span is not None
    return span


def _essence(graph: LoadGraph) -> object:
    """Return what the answer rests on, without places in texts."""
    return (
        {name: resource.load for name, resource in graph.resources.items()},
        [(c.measure, c.limit, c.at_most, c.strict, c.axis) for c in graph.criteria],
        graph.quality,
        (graph.low, graph.high, graph.population),
        graph.values,
    )


# -- how much each explains ------------------------------------------------------------------


def _told(changes: Sequence[AssumptionChange], bench: _Bench) -> Iterator[AssumptionChange]:
    """Yield changes with what each moves the answer by; those of the formulas move that."""
    moving = [change for change in changes if change.kind not in _UNMOVED]
    explained = iter(_explained(moving, bench))
    for change in changes:
        yield change if change.kind in _UNMOVED else next(explained)


def _explained(changes: Sequence[AssumptionChange], bench: _Bench) -> tuple[AssumptionChange, ...]:
    """Return changes with what each moves the answer by."""
    names = [change.name for change in changes]
    most = MOST_SHARED if bench.promising is None else _MOST_SAMPLED

    def answer(made: frozenset[str]) -> int | None:
        return bench.answer(made, changes)

    start = answer(frozenset())
    found = []
    for index, change in enumerate(changes):
        before = answer(frozenset(names[:index]))
        found.append(
            structs.replace(
                change,
                alone=moved_by(answer(frozenset([change.name])), start),
                step=moved_by(answer(frozenset(names[: index + 1])), before),
                share=shapley(change.name, names, answer) if len(names) <= most else None,
            )
        )
    return tuple(found)
