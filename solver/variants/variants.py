"""Which variants of a model a page holds: other choices, other machines, each lowered once.

Numbers and the population are inputs of the page's program; choices and places change the
program itself. A spec has more combinations of them than a page can hold, so the starts (the
spec as it is, each scenario, what the command line asks for) come first, then everything that
is one change away from a start, then two changes, until the page is full.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, product, zip_longest
from math import prod

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.cases import varies_by_case
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    changed,
    changed_by_modes,
    in_each_mode,
    in_force,
)
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.certainty_requirements import judged_plainly
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.quantities.dimension import Dimension
from qps.solver.variants.variant_graphs import VariantGraph, is_given, variant_graph
from qps.solver.variants.variant_promises import promises_of
from qps.solver.variants.variant_spreads import NumberSpread, spreads_of
from qps.solver.what_if.offers import is_assumed, kinds_at_hand

MOST_VARIANTS = 200
_MOST_TOGETHER = 4
"""Places that are doubled together: as many changes as the script of a page joins."""
_MOST_IN_VAIN = 20_000
"""Combinations that are known or cannot be, one behind another: then no more are looked for."""
_MOST_WORK = 12_000
"""Demands and stages in the graphs of all variants: a large model gets fewer of them."""

Picks = tuple[int, ...]
"""For each select, the index of what is chosen."""


class Select(Struct, frozen=True, kw_only=True):
    """A choice that the reader of a page can make: an option, a machine, a network.

    `counts` says how many machines or networks a choice of a place brings along; `usual` is
    the number that the spec has there. Choices that are `no_help`, by their numbers, are offered to
    nobody who needs more: assumptions, and hardware that has its purpose elsewhere.
    """

    kind: str
    name: str
    choices: tuple[str, ...]
    doc: str | None
    counts: tuple[ir.Expr, ...] = ()
    usual: ir.Expr | None = None
    no_help: tuple[int, ...] = ()

    def change(self, index: int, span: Span) -> ir.Change:
        """Return the change that makes a choice."""
        if self.kind == "option":
            return ir.SetOption(self.name, self.choices[index], span)
        if self.kind == "case":
            return ir.SetCase(ir.Case(self.choices[index]), span)
        return ir.SetPlace(self.name, self.choices[index], self.counts[index], span)

    @property
    def texts(self) -> tuple[str, ...]:
        """The choices as `--set` takes them: `server * 4` where the number is not the usual one."""
        if not self.counts:
            return self.choices
        return tuple(
            f"{choice} * {count.value}"
            if count != self.usual and isinstance(count, ir.Constant)
            else choice
            for choice, count in zip(self.choices, self.counts, strict=True)
        )


class Origin(Struct, frozen=True):
    """A configuration that a reader may start from: its name, and what `--set` changed in it."""

    name: str
    configuration: Configuration
    settings: tuple[str, ...] = ()


class StartNumber(Struct, frozen=True, kw_only=True):
    """A parameter that a start sets to a number, in base units, and where it does."""

    name: str
    value: Fraction
    dimension: Dimension
    span: Span
    is_given: bool


class Start(Struct, frozen=True, kw_only=True):
    """Where a reader starts: a configuration, as a shape of the model with picks.

    It sets the parameters of `numbers` otherwise than the spec; what a mode sets goes before these,
    and stands in the graph of the mode. `spreads` are of what is not known, by mode, and `promised`
    is what is promised in spite of it (`promises_of`); empty where all is known.
    """

    name: str
    doc: str | None
    configuration: Configuration
    settings: tuple[str, ...]
    shape: int
    picks: Picks
    numbers: tuple[StartNumber, ...]
    spreads: Mapping[str, tuple[tuple[NumberSpread, ...], ...]] = {}
    promised: Mapping[str, Mapping[str, int]] = {}


class _Lowered(Struct, frozen=True, kw_only=True):
    """The load graphs of a combination, one for each mode, and the configurations they are of."""

    shape: int
    picks: Picks
    relevant: frozenset[int]
    graphs: tuple[LoadGraph, ...]
    configurations: tuple[Configuration, ...]
    is_start: bool

    def variant(self, model: ir.Model) -> Variant:
        """Return the variant, with all that a page needs of its graphs."""
        elastic = frozenset(one.parameter.name for graph in self.graphs for one in graph.elastic)
        each = zip(self.configurations, self.graphs, strict=True)
        return Variant(
            shape=self.shape,
            picks=self.picks,
            relevant=self.relevant,
            is_start=self.is_start,
            graphs=tuple(variant_graph(model, *one, elastic) for one in each),
        )


class Variant(Struct, frozen=True, kw_only=True):
    """A combination with its graphs, one for each mode.

    `relevant` are the selects that matter.
    `is_start` where a reader can start from it: no page does without.
    """

    shape: int
    picks: Picks
    relevant: frozenset[int]
    is_start: bool
    graphs: tuple[VariantGraph, ...]


class Variants(Struct, frozen=True, kw_only=True):
    """What a page may hold: selects, starts, and variants, each made when it is come to.

    A page takes as many of them as it has room for. The `model` is judged by one value of each
    number, `base` as its spec states it. `unanswered` are starts that no page can show: they have
    no answer.
    """

    model: ir.Model
    base: Configuration
    selects: tuple[Select, ...]
    starts: tuple[Start, ...]
    variants: Iterator[Variant]
    unanswered: tuple[str, ...]

    @property
    def combinations(self) -> int:
        """How many combinations there are."""
        return prod(len(select.choices) for select in self.selects)

    def are_all(self, held: Iterable[Variant]) -> bool:
        """Return whether every combination is in some variants."""
        covered = sum(
            prod(len(s.choices) for i, s in enumerate(self.selects) if i not in variant.relevant)
            for variant in held
            if variant.shape == 0
        )
        return covered >= self.combinations


def variants_of(
    model: ir.Model,
    origins: Sequence[Origin],
    first: int = 0,
    most: int = MOST_VARIANTS,
    full: Sequence[str] = (),
    *,
    has_spreads: bool = True,
) -> Variants:
    """Return the variants of a model that fit a page; the starts are always among them.

    What is near to the start with the number `first` comes before what is near to others. Where
    several resources are `full` at once, those with more of their places are among them, too.
    Unless it `has_spreads` every number is taken for known.
    """
    asking, model = model, model.once(judged_plainly)
    explorer = _Explorer(
        model=model, selects=_selects(model, [origin.configuration for origin in origins])
    )
    docs = {scenario.name: scenario.doc for scenario in model.scenarios}
    tried = [explorer.start(origin, docs.get(origin.name)) for origin in origins]
    explorer.is_starting = False
    if has_spreads:
        tried = [start and _with_spreads(start, model, asking) for start in tried]
    found = [start for start in tried if start is not None]
    near = [start for start in tried[first : first + 1] if start is not None]
    return Variants(
        model=model,
        base=base_configuration(model),
        selects=tuple(_with_no_help(one, model, found) for one in explorer.selects),
        starts=tuple(found),
        variants=explorer.explored([*near, *(s for s in found if s not in near)], most, full),
        unanswered=tuple(o.name for o, start in zip(origins, tried, strict=True) if start is None),
    )


def _with_spreads(start: Start, model: ir.Model, asking: ir.Model) -> Start:
    """Return a start with what is not known, and what a model that asks for certainty promises."""
    spreads = spreads_of(model, start.configuration)
    if not spreads:
        return start
    return replace(start, spreads=spreads, promised=promises_of(asking, start.configuration))


# -- what can be chosen ------------------------------------------------------------------


def _selects(model: ir.Model, starts: Sequence[Configuration]) -> tuple[Select, ...]:
    """Return the case, every option, and every place with the hardware that fits it."""
    options = [
        Select(kind="option", name=option.name, choices=option.choices, doc=option.doc)
        for option in model.options
    ]
    if any(varies_by_case(parameter.value) for parameter in model.parameters):
        cases = tuple(case.value for case in ir.Case)
        options.insert(
            0,
            Select(kind="case", name="case", choices=cases, doc="which case of the values applies"),
        )
    base = base_configuration(model)
    places = []
    for kind, now, known in (
        ("machine", base.nodes, tuple(model.machines)),
        ("network", base.links, tuple(model.networks)),
    ):
        for name, place in now.items():
            usual = [(one, place.count) for one in known if _fits(model, starts, name, one)]
            own = [placed(configuration, name) for configuration in starts]
            more = [(one, _twice(count)) for one, count in own if isinstance(count, ir.Constant)]
            choices, counts = zip(*dict.fromkeys([*usual, *own, *more]), strict=True)
            places.append(
                Select(
                    kind=kind,
                    name=name,
                    choices=choices,
                    doc=None,
                    counts=counts,
                    usual=place.count,
                )
            )
    return tuple(s for s in (*options, *places) if len(s.choices) > 1)


def _with_no_help(select: Select, model: ir.Model, starts: Sequence[Start]) -> Select:
    """Return a select with the choices that are offered to nobody as a help."""
    choices = range(len(select.choices))
    if select.kind == "option":
        option = next(one for one in model.options if one.name == select.name)
        return replace(select, no_help=tuple(choices) if is_assumed(option) else ())
    if not select.counts:
        return select
    configurations = [start.configuration for start in starts]
    offered = {placed(one, select.name)[0] for one in configurations}
    for one in configurations:
        offered |= set(kinds_at_hand(model, one, select.name))
    no_help = tuple(at for at in choices if select.choices[at] not in offered)
    return replace(select, no_help=no_help)


def placed(configuration: Configuration, place: str) -> tuple[str, ir.Expr]:
    """Return what stands in a place, and how many."""
    node = configuration.nodes.get(place)
    if node is not None:
        return node.machine, node.count
    link = configuration.links[place]
    return link.network, link.count


def _twice(count: ir.Constant) -> ir.Expr:
    """Return twice as many machines or networks: what helps most where one is full."""
    return ir.Constant(2 * count.value)


def _fits(model: ir.Model, starts: Sequence[Configuration], place: str, kind: str) -> bool:
    """Tell whether a machine or network can stand in a place in any of the configurations."""
    for configuration in starts:
        if placed(configuration, place)[0] == kind:
            return True
        stands = configuration.nodes.get(place) or configuration.links[place]
        change = ir.SetPlace(place, kind, None, stands.span)
        sink = Sink()
        check_placement(model, changed(configuration, [change]), sink)
        if not sink.has_errors:
            return True
    return False


# -- which of them are lowered -----------------------------------------------------------


class _Explorer(Struct, kw_only=True):
    """Lowers combinations, each once; one that differs in nothing that matters is known."""

    model: ir.Model
    selects: tuple[Select, ...]
    variants: list[_Lowered] = field(default_factory=list)
    unfit: set[tuple[int, Picks]] = field(default_factory=set)
    is_starting: bool = True
    _shapes: list[Configuration] = field(default_factory=list)
    _work: int = 0

    def explored(
        self, starts: Sequence[Start], most: int, full: Sequence[str]
    ) -> Iterator[Variant]:
        """Yield the variants of the starts, and then what is near to these."""
        yield from (one.variant(self.model) for one in tuple(self.variants))
        in_vain = 0
        for shape, picks in chain(self._more_of(starts[0], full), self._neighbours(starts)):
            known = len(self.variants)
            if known >= most or self._work >= _MOST_WORK or in_vain >= _MOST_IN_VAIN:
                return
            self.add(shape, picks)
            yield from (one.variant(self.model) for one in self.variants[known:])
            in_vain = in_vain + 1 if len(self.variants) == known else 0

    def start(self, origin: Origin, doc: str | None) -> Start | None:
        """Return a start, lowered; of the shape of an earlier one where only numbers differ.

        None where it has no answer.
        """
        configuration = origin.configuration
        picks = self._picks(configuration)
        variant = self._lowered(len(self._shapes), picks, configuration)
        if variant is None:
            return None
        usual = base_configuration(self.model).parameters
        own = {n for n, value in configuration.parameters.items() if value != usual[n]}
        own -= changed_by_modes(self.model, configuration)
        start = Start(
            name=origin.name,
            doc=doc,
            configuration=configuration,
            settings=origin.settings,
            shape=variant.shape,
            picks=picks,
            numbers=tuple(self._numbers(configuration, own)),
        )
        for shape, known in enumerate(self._shapes):
            if not _differ_in_numbers(known, configuration, variant.graphs):
                continue
            alike = self.add(shape, picks)
            if alike is not None and _are_alike(alike.graphs, variant.graphs, own):
                return replace(start, shape=shape)
        self._shapes.append(configuration)
        self.variants.append(variant)
        return start

    def _numbers(
        self, configuration: Configuration, names: Collection[str]
    ) -> Iterator[StartNumber]:
        """Yield the plain numbers among some parameters of a configuration, in their order."""
        declared = {parameter.name: parameter for parameter in self.model.parameters}
        for name, value in configuration.parameters.items():
            if name in names and isinstance(value, ir.Constant):
                yield StartNumber(
                    name=name,
                    value=value.value,
                    dimension=declared[name].dimension,
                    span=configuration.values_from[name],
                    is_given=is_given(self.model, declared[name], name),
                )

    def add(self, shape: int, picks: Picks) -> _Lowered | None:
        """Return the variant of a combination, lowered if it is new; None if it cannot be."""
        for variant in self.variants:
            if variant.shape == shape and all(
                variant.picks[i] == picks[i] for i in variant.relevant
            ):
                return variant
        if (shape, picks) in self.unfit:
            return None
        base = self._shapes[shape]
        span = self.model.population.span
        assert span is not None
        # What stays as it is must not be asked for: that would win over what a mode changes.
        now = self._picks(base)
        changes = [
            select.change(picks[i], span)
            for i, select in enumerate(self.selects)
            if picks[i] != now[i]
        ]
        new = self._lowered(shape, picks, changed(base, changes))
        if new is None:
            self.unfit.add((shape, picks))
        else:
            self.variants.append(new)
        return new

    def _more_of(self, start: Start, full: Sequence[str]) -> Iterator[tuple[int, Picks]]:
        """Yield more and more of the places of some resources doubled, where there are several."""
        picks, doubled = list(start.picks), 0
        known = self.add(start.shape, start.picks)
        network = known.graphs[0].network if known else None
        places = {network.place_of(name) for name in full} if network else set()
        for i, select in enumerate(self.selects):
            is_full = select.counts and select.name in places
            count = select.counts[picks[i]] if is_full else None
            if not isinstance(count, ir.Constant):
                continue
            more = (select.choices[picks[i]], _twice(count))
            picks[i] = list(zip(select.choices, select.counts, strict=True)).index(more)
            doubled += 1
            if doubled > 1:
                yield start.shape, tuple(picks)
            if doubled == _MOST_TOGETHER:
                return

    def _neighbours(self, starts: Sequence[Start]) -> Iterator[tuple[int, Picks]]:
        """Yield combinations: all one change away from the first start, then by turns further.

        By turns one more step away from the first start, hardware first, and one change away
        from another start; at last whatever is left.
        """
        everywhere = range(len(self.selects))
        hardware = [i for i in everywhere if self.selects[i].counts]
        first, *others = starts
        yield from self._changed(first, combinations(everywhere, 1))
        near = chain(
            self._changed(first, combinations(hardware, 2)),
            self._changed(first, combinations(self._telling(), 2)),
        )
        far = chain.from_iterable(
            self._changed(start, combinations(everywhere, 1)) for start in others
        )
        for pair in zip_longest(near, far):
            yield from (pick for pick in pair if pick is not None)
        for distance in range(2, len(self.selects) + 1):
            for start in starts:
                yield from self._changed(start, combinations(self._telling(), distance))

    def _telling(self) -> Sequence[int]:
        """Return the selects that tell several changes from fewer of them: what anything asks for.

        Without what nothing asks for, a combination is nearer to the start, and so it is known. Of
        those that cannot be it is not known what they ask for.
        """
        everywhere = range(len(self.selects))
        if self.unfit:
            return everywhere
        return sorted(frozenset().union(*(variant.relevant for variant in self.variants)))

    def _changed(
        self, start: Start, which: Iterable[tuple[int, ...]]
    ) -> Iterator[tuple[int, Picks]]:
        """Yield every combination that differs from a start in some selects."""
        for indices in which:
            others = [
                [c for c in range(len(self.selects[i].choices)) if c != start.picks[i]]
                for i in indices
            ]
            for choices in product(*others):
                picks = list(start.picks)
                for index, choice in zip(indices, choices, strict=True):
                    picks[index] = choice
                yield start.shape, tuple(picks)

    def _picks(self, configuration: Configuration) -> Picks:
        return tuple(self._pick(select, configuration) for select in self.selects)

    def _pick(self, select: Select, configuration: Configuration) -> int:
        if select.kind == "option":
            return select.choices.index(configuration.options[select.name])
        if select.kind == "case":
            return select.choices.index(configuration.case.value)
        pairs = list(zip(select.choices, select.counts, strict=True))
        return pairs.index(placed(configuration, select.name))

    def _lowered(self, shape: int, picks: Picks, configuration: Configuration) -> _Lowered | None:
        sink = Sink()
        check_placement(self.model, configuration, sink)
        if sink.has_errors:
            return None
        try:
            settled = tuple(in_force(one) for one in in_each_mode(self.model, configuration))
            graphs = tuple(lower(self.model, one, sizes_move=True) for one in settled)
        except QpsError:
            return None
        self._work += sum(map(_size, graphs))
        asked = frozenset().union(*(graph.basis.asked for graph in graphs))
        return _Lowered(
            shape=shape,
            picks=picks,
            relevant=frozenset(
                index
                for index, select in enumerate(self.selects)
                if select.kind != "option" or select.name in asked
            ),
            graphs=graphs,
            configurations=settled,
            is_start=self.is_starting,
        )


def _differ_in_numbers(
    known: Configuration, other: Configuration, graphs: Sequence[LoadGraph]
) -> bool:
    """Tell whether two configurations differ only in choices, places and plain numbers."""
    same = ("low", "high", "mode", "case")
    if any(getattr(other, part) != getattr(known, part) for part in same):
        return False
    decided = frozenset().union(*(graph.basis.decided for graph in graphs))
    return all(
        value == known.parameters[name]
        or (
            isinstance(value, ir.Constant)
            and isinstance(known.parameters[name], ir.Constant)
            and name not in decided
        )
        for name, value in other.parameters.items()
    )


def _size(graph: LoadGraph) -> int:
    """Return how many demands and stages there are in a graph."""
    demands = sum(len(resource.parts) for resource in graph.resources.values())
    return demands + sum(len(stream.latency) for stream in graph.streams.values())


_FORMULAS = ("resources", "criteria", "quality", "streams", "measures", "elastic", "prices")


def _are_alike(
    some: Sequence[LoadGraph], others: Sequence[LoadGraph], numbers: Collection[str]
) -> bool:
    """Tell whether graphs have the same formulas, and the same values of all but some numbers."""
    return len(some) == len(others) and all(
        all(getattr(one, part) == getattr(other, part) for part in _FORMULAS)
        and one.assumptions.keys() == other.assumptions.keys()
        and all(
            name in numbers or a.value == other.assumptions[name].value
            for name, a in one.assumptions.items()
        )
        for one, other in zip(some, others, strict=True)
    )
