"""What a page may write of a configuration: names, and numbers as people read them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf, isfinite, isnan

from browsers.page_numbers import Cell
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.certainty import EXACT, Certainty, CertaintyKind
from qps.compiler.quantities.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION,
    MONEY,
    TIME,
    Dimension,
)
from qps.reports.text.solutions.answer_values import SolveView
from qps.reports.text.words.certainty_marks import marked_users, marked_value
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.quantities import (
    in_percent,
    percent,
    quantity,
    quantity_at_limit,
    rounded_down,
    scales,
    unit_symbols,
    utilization_text,
)
from qps.solver.answers.solution import QUALITY, Solution
from qps.solver.claims.claim_results import ClaimResult

LONGEST = 48
"""Letters of a name on a page."""
ROUNDED = 0.006
"""What a number of three digits may be off by, as a part of it."""
SAME = 1e-9
MOST_STEPS = 16
"""Of a way, of which all sums are known: a page tells those of calls."""
POINTS = 6
"""Of each line, that are looked at."""

BAD = re.compile(
    r"undefined|\bNaN\b|\bnan\b|\binf\b|"
    r"\[object|\bnull\b|\bInfinity\b|∞ %|\bTrue\b|\bFalse\b|Fraction\("
)
"""What no page says."""

NUMBER = re.compile(
    r"[-−]?(\d+(?:,\d{3})*(?:\.\d+)?(?: × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|∞)"
    r"( %| [A-Za-z$][^\s,;:()…`]*)?(…?)"
)


_BETWEEN = re.compile(r"([\d,]+)–([\d,]+)")
_OWN_SAMPLES = 0.05
"""How far an end of an interval may be off that rests on a few hundred samples."""


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text, as they are written, without signs; not one that is cut off."""
    return [number for number, _, cut in NUMBER.findall(text) if not cut]


def amounts_in(text: str) -> list[tuple[str, str]]:
    """Return the same with the word behind each, which may be its unit."""
    return [(number, word.strip()) for number, word, cut in NUMBER.findall(text) if not cut]


def worth(text: str) -> float:
    """Return what a written number comes to."""
    if text == "∞":
        return float("inf")
    amount, _, power = text.replace(",", "").partition(" × ")
    power = power or (amount if amount.startswith("10") and not amount.isascii() else "")
    scale = 10.0 ** int(power[2:].translate(_LOWERED)) if power else 1.0
    return (1.0 if power == amount else float(amount)) * scale


_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


class WrittenNumbers:
    """What `solve` and its graph say of a configuration, and for so many users."""

    def __init__(
        self,
        spec: Spec,
        solution: Solution,
        view: SolveView,
        settings: Sequence[str] = (),
        scenario: str | None = None,
        population: int | None = None,
        claims: tuple[ClaimResult, ...] = (),
    ) -> None:
        self.claims = claims
        self.spec, self.solution, self.view = spec, solution, view
        self.settings, self.scenario = tuple(settings), scenario
        self.graph = solution.graph
        self.beside = view.at_reliable_capacity
        self.headline = solution.at if self.beside is None else self.beside.population
        self.at = self.headline if population is None else population
        self.labels = spec.model.derived(labels_of)
        self.here = self.graph.at(self.at).number
        self.draws_own = False
        """Whether a page draws samples of its own, which are fewer."""
        self.own_values: dict[str, float] = {}
        """Values that a page draws itself, at the confidence of the headline."""
        self.own_limits: dict[str, int] = {}
        """Up to where limits are met in samples that a page draws itself."""

    # -- limits --------------------------------------------------------------------------

    @property
    def headline_limits(self) -> Mapping[str, int]:
        """Up to where limits are met as reliably as the headline, by name.

        Of another setting a page tells what its own samples do, and nothing of model errors.
        """
        reliable = self.view.reliable_capacity
        if self.draws_own or self.beside is None or reliable is None:
            return self.own_limits
        if reliable.confidence is None and not reliable.allowed_for:
            return {}
        found = {utilization_of(one.name): one.met_up_to for one in self.beside.utilizations}
        found |= {one.name: one.met_up_to for one in self.beside.requirements}
        found[QUALITY] = self.beside.quality_met_up_to
        return {name: most for name, most in found.items() if most is not None}

    @property
    def reliable_limits(self) -> Mapping[str, int]:
        """The same beside the population that is shown: at any other one, limits are nominal."""
        return self.headline_limits if self.at == self.headline else self.own_limits

    def met_up_to(self, name: str) -> tuple[int | None, Certainty]:
        """Return up to where a requirement is met, or all of them for quality, and how certain."""
        if name == QUALITY:
            nominal, known = self.view.quality.met_up_to, self.view.quality.met_up_to_known
        else:
            found = (one for one in self.view.requirements if one.measure == name)
            item = next(found, None)
            nominal, known = (item.met_up_to, item.met_up_to_known) if item else (None, EXACT)
        if name not in self.reliable_limits:
            return nominal, known
        reliable = self.view.reliable_capacity
        covered = () if self.draws_own or reliable is None else reliable.allowed_for
        is_covered = name in {one.name for one in covered}
        return self.reliable_limits[name], EXACT if is_covered else known

    # -- names ---------------------------------------------------------------------------

    def called(self, name: str) -> str:
        """Return what a page calls a name, in a table."""
        text = self.labels.of(name)
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"

    def _names(self) -> Iterator[str]:
        graph = self.graph
        yield from graph.resources
        yield from (c.name for c in graph.criteria if c.span is not None)
        for name in graph.streams:
            yield from (
                name,
                *(f"{name}.{part}" for part in ("latency", "jitter", "loss", "throughput")),
            )
        yield from graph.measures
        yield from (one.parameter.name for one in graph.elastic)
        yield from graph.assumptions
        yield from (part for one in graph.resources.values() for part in (*one.parts, *one.streams))

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Return names by what a page writes for them: several may be called alike."""
        found: dict[str, dict[str, None]] = {}
        for name in self._names():
            for written in (name, self.labels.of(name), self.called(name)):
                found.setdefault(written, {})[name] = None
        return {written: tuple(names) for written, names in found.items()}

    def names_in(self, cell: Cell) -> tuple[str, ...]:
        """Return what a cell may be the name of."""
        return self.names.get(cell.name) or self.names.get(cell.text) or ()

    def name_in(self, cell: Cell, among: Container[str] | None = None) -> str | None:
        """Return what a cell is the name of, among some."""
        found = self.names_in(cell)
        return next((one for one in found if among is None or one in among), None)

    # -- numbers as they are shown ---------------------------------------------------------

    def reported(
        self,
        value: float,
        dimension: Dimension = DIMENSIONLESS,
        known: Certainty = EXACT,
        *,
        share: bool = False,
        limit: float | None = None,
    ) -> set[str]:
        """Return all that a page may write of a value: three digits or four, and beside a limit."""
        found = set()
        for near in (value, value * (1 + SAME), value * (1 - SAME)):
            texts = {quantity(near, dimension, digits, share=share) for digits in (3, 4)}
            if limit is not None:
                texts.add(quantity_at_limit(near, limit, dimension, share=share))
                texts.add(_apart(near, limit, dimension, share=share))
            found |= {marked_value(text, value, known) for text in texts}
        return found

    def bar_labels(self, value: float) -> set[str]:
        """Return what may stand beside the bar of a utilization: one decimal."""
        return {utilization_text(near) for near in (value, value * (1 + SAME), value * (1 - SAME))}

    def measured(self, criterion: Criterion, at: int) -> set[str]:
        """Return what a page may write of a requirement at a population."""
        graph = self.graph
        return self.reported(
            graph.at(at).number(criterion.value),
            criterion.dimension,
            known_at(graph, criterion, at),
            share=in_percent(criterion),
            limit=graph.number(criterion.limit),
        )


def _apart(value: float, limit: float, dimension: Dimension, *, share: bool) -> str:
    """Return a value in as many digits as it takes to tell it from a limit."""
    for digits in range(4, 16):
        result = quantity(value, dimension, digits, share=share)
        if result != quantity(limit, dimension, digits, share=share):
            return result
    return quantity(value, dimension, share=share)


def _amounts(texts: Iterable[str]) -> set[tuple[str, str]]:
    found = {one for text in texts for one in amounts_in(text)}
    return found | {(number, "") for number, _ in found}


_UNITS = frozenset(
    unit_symbols(unit)
    for dimension in (TIME, DATA_RATE, INFORMATION, MONEY, MONEY / TIME, TIME * TIME)
    for _, unit in scales(dimension)
) | {"%"}
"""Words behind numbers that are units: what stands with one is that amount."""
_JUDGED_BESIDE = {"decision": "advice", "more-facts": "advice"}
"""Where numbers of sentences stand in a table of another place, too."""
_SAID_OF_NUMBERS = frozenset(
    (
        *("answer", "decision", "more-facts", "headroom", "small-answer", "comparison"),
        *("picture-topology", "picture-waterfall", "picture-tornado"),
    )
)
"""Where sentences and pictures say numbers that are in no table of their own."""


_STATES = {"Within": (-inf, 0.8), "Near": (0.8, 1.0), "At limit": (-inf, 1.0), "Over": (1.0, inf)}
"""Between which parts of a limit a state is said of a value."""


def _state_differs(what: Cell, state: Cell, used: float, limits: bool) -> Iterator[str]:
    """Yield where a state is not that of a value that uses a part of its limit."""
    if "elastic" in state.text:
        return  # full by design
    if isnan(used):
        if state.text != "Unknown":
            yield f"{what.text} is {state.text}, of a limit without parts"
        return
    least, most = _STATES[state.text]
    if not least - ROUNDED <= used <= most + SAME or (state.text == "At limit") is not (
        limits and used <= 1 + SAME
    ):
        yield f"{what.text} is {state.text}: {used} of its limit is used"


def _as_planned(count: int) -> str:
    """Return a number of users as one plans with it, too: two digits, rounded down."""
    step = 10 ** max(0, len(str(count)) - 2)
    return f"{count:,} {rounded_down(count)} {count // step * step:,}"


def is_open_at(graph: LoadGraph, criterion: Criterion | None, at: int) -> bool:
    """Return whether the value of a requirement is a bound there that does not prove it met."""
    if criterion is None:
        return False
    side = CertaintyKind.LOWER_BOUND if criterion.at_most else CertaintyKind.UPPER_BOUND
    return known_at(graph, criterion, at).kind is side


def _headrooms(used: float) -> set[str]:
    """Return what a page may write of what is left of a limit."""
    left = 100 * (1 - used)
    if not isfinite(left):
        return {""}
    found = {"<1 %"} if -SAME < left < 1 + SAME else set()
    for near in (left - 1e-6, left + 1e-6):
        found.add(f"{'−' if round(near) < 0 else ''}{abs(round(near)):,} %")
    return found


def _behind(what: Cell, resource: ResourceLoad, truth: WrittenNumbers) -> Cell:
    """Return what a resource's load is made of, as it stands below its name."""
    names = [truth.called(name) for name, one in truth.graph.resources.items() if one is resource]
    text = what.text.removeprefix(names[0]) if names else what.text
    return Cell(re.sub(r", busiest of \d+ (other )?ports", "", text), what.name)


def _is_at(true: float, said: float | None) -> bool:
    """Tell whether a line is where it should be; None where it is cut."""
    return not isfinite(true) if said is None else abs(said - true) <= SAME * abs(true) + SAME**2


def _differs(what: Cell, column: str, cell: Cell, wanted: set[str]) -> Iterator[str]:
    if cell.text not in wanted:
        yield f"{what.text}, {column}: {cell.text!r}, not {sorted(wanted)[:4]}"


def _near(what: Cell, cell: Cell, chance: float, most: float) -> Iterator[str]:
    found = numbers_in(cell.text)
    if not found or abs(worth(found[0]) / 100 - chance) > most:
        yield f"{what.text}: {cell.text!r}, not {percent(chance)}"


def _capacities(solution: Solution) -> set[str]:
    """Return what a page may write of the capacity."""
    if solution.capacity is None:
        return {"none"}
    is_range = solution.limited_by is None
    return {
        marked_users(solution.capacity, known, range_limits=is_range)
        for known in _known_of(solution)
    }


def _known_of(solution: Solution) -> Iterator[Certainty]:
    from qps.solver.answers.answer_certainty import answer_known

    yield answer_known(solution)
