"""What is true of a configuration for some users, and where a page says something else.

A number on a page is held against what `solve` and its load graph say of the very thing beside
which it stands, rounded as people read it. A table that nobody holds against anything is told as
well: no number of a page is compared with nothing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import floor, inf, isfinite, isnan, nan

from browsers.page_numbers import Cell, Line, Shown, ShownTable, ShownText
from oracles.true_claims import printed_claims, wrong_claims
from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.ir.measure_names import resource_in
from qps.compiler.lower.load_graph import Criterion
from qps.compiler.lower.requirements.lower_measures import Measures
from qps.compiler.lower.requirements.serial_losses import in_series_at, known_at, quality_known_at
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION,
    MONEY,
    TIME,
    Dimension,
)
from qps.engine.expressions.formulas import ZERO, Formula, total
from qps.engine.expressions.formulas import number as exact_number
from qps.reports.pages.drawings.request_strip import SUMS
from qps.reports.text.solutions.answer_values import SolveView
from qps.reports.text.solutions.uncertainty_text import samples_text
from qps.reports.text.words.certainty_marks import marked, marked_users, marked_value
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    in_percent,
    number,
    percent,
    quantity,
    quantity_at_limit,
    rounded_down,
    rounded_up,
    scales,
    whole_population,
)
from qps.reports.text.words.spec_units import unit_of
from qps.solver.answers.answer_parts import MONTH
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.solution import QUALITY, Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.claims.claim_results import ClaimResult
from qps.solver.details.request_path import LEVEL, Step, path_of

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

_NUMBER = re.compile(
    r"[-−]?(\d+(?:,\d{3})*(?:\.\d+)?(?: × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|∞)"
    r"( %| [A-Za-z$][^\s,;:()…`]*)?(…?)"
)


_BETWEEN = re.compile(r"([\d,]+)–([\d,]+)")
_OWN_SAMPLES = 0.05
"""How far an end of an interval may be off that rests on a few hundred samples."""


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text, as they are written, without signs; not one that is cut off."""
    return [number for number, _, cut in _NUMBER.findall(text) if not cut]


def amounts_in(text: str) -> list[tuple[str, str]]:
    """Return the same with the word behind each, which may be its unit."""
    return [(number, word.strip()) for number, word, cut in _NUMBER.findall(text) if not cut]


def worth(text: str) -> float:
    """Return what a written number comes to."""
    if text == "∞":
        return float("inf")
    amount, _, power = text.replace(",", "").partition(" × ")
    power = power or (amount if amount.startswith("10") and not amount.isascii() else "")
    scale = 10.0 ** int(power[2:].translate(_LOWERED)) if power else 1.0
    return (1.0 if power == amount else float(amount)) * scale


_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


class Truth:
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
        self.at = solution.at if population is None else population
        self.labels = spec.model.derived(labels_of)
        self.here = self.graph.at(self.at).number
        self.draws_own = False
        """Whether a page draws samples of its own, which are fewer."""

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

    # -- numbers as they are told ----------------------------------------------------------

    def told(
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

    def measured(self, criterion: Criterion, at: int) -> set[str]:
        """Return what a page may write of a requirement at a population."""
        graph = self.graph
        return self.told(
            graph.at(at).number(criterion.value),
            criterion.dimension,
            known_at(graph, criterion, at),
            share=in_percent(criterion),
            limit=graph.number(criterion.limit),
        )

    # -- all of a page ---------------------------------------------------------------------

    def wrong(self, shown: Shown) -> list[str]:
        """Return all that a page says otherwise, and whatever nobody compares."""
        found = self.unsaid(shown)
        for table in shown.tables:
            judge = self._judges.get(table.of)
            if judge is None:
                found.append(f"{table.of}: nobody compares its table {table.head}")
                continue
            found += [f"{table.of}: {one}" for one in judge(table)]
        for line in shown.lines:
            found += [f"picture of {line.of}: {one}" for one in self._line(line)]
        return [*found, *self._texts(shown), *self._claims_left_out(shown)]

    @staticmethod
    def unsaid(shown: Shown) -> list[str]:
        """Return what no page says, such as that something is undefined."""
        texts = [(one.of, one.text) for one in shown.texts]
        texts += [(one.of, text) for one in shown.tables for text in one.head]
        texts += [(one.of, cell.text) for one in shown.tables for row in one.rows for cell in row]
        return [f"{of}: {text}" for of, text in texts if BAD.search(text)]

    @property
    def _judges(self) -> Mapping[str, Callable[[ShownTable], Iterable[str]]]:
        nothing = self._words_alone
        return {
            "gauges": self._gauges,
            "limits": self._limits_in_order,
            "requirements": self._requirements,
            "modes": self._modes,
            "resources": self._resources,
            "measures": self._measures,
            "traffic": self._traffic,
            "advice": self._advice,
            "likely": self._likely,
            "measure-next": self._measure_next,
            "picture-odds": self._histogram,
            "picture-topology": self._places,
            "picture-waterfall": self._way,
            "picture-loads": self._over_users,
            "picture-shares": self._over_users,
            "picture-needs": self._over_users,
            "picture-tornado": self._elasticities,
            "picture-heat": self._heat,
            "numbers": self._assumptions,
            "assumptions": nothing,
            "formulas": self._parts,
            "claims": self._claims,
            "figures": nothing,
            **{f"picture-{one}": nothing for one in ("quality", "space")},
        }

    def _words_alone(self, _: ShownTable) -> Iterator[str]:
        """What is told word by word by the very function that makes the still page."""
        yield from ()

    # -- requirements, resources, measures ---------------------------------------------------

    def _at_of(self, heading: str) -> int | None:
        """Return the population of a column."""
        found = re.fullmatch(r"(?:Utilization a|A)t ([\d,]+)", heading)
        return int(found[1].replace(",", "")) if found else None

    def _criterion(self, name: str) -> Criterion | None:
        return next((c for c in self.graph.criteria if c.name == name and c.span is not None), None)

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset(c.name for c in self.graph.criteria if c.span is not None)

    def _requirements(self, table: ShownTable) -> Iterator[str]:
        _, *columns, _ = table.head
        for what, *cells, state in table.rows:
            is_quality = (
                what.text
                == f"{self.labels.of(QUALITY)} ({phrase(f'quality.{self.graph.metric.value}')})"
            )
            criterion = (
                None if is_quality else self._criterion(self.name_in(what, self._required) or "")
            )
            if not is_quality and criterion is None:
                yield f"nobody knows the requirement {what}"
                continue
            for column, cell in zip(columns, cells, strict=True):
                yield from _differs(what, column, cell, self._of_need(criterion, column))
            yield from self._state(what, criterion, state)

    def _of_need(self, criterion: Criterion | None, column: str) -> set[str]:
        """Return what a column may say of a requirement, or of quality."""
        graph, at = self.graph, self._at_of(column)
        if at is not None and (criterion is None or criterion.confidence is None):
            if criterion is not None:
                return self.measured(criterion, at)
            assert graph.quality_value is not None
            known = quality_known_at(graph, at)
            return self.told(graph.at(at).number(graph.quality_value), known=known, limit=1.0) | {
                ""
            }
        if column == "Met up to":
            item = next(
                (
                    one
                    for one in self.view.requirements
                    if criterion is not None and one.measure == criterion.name
                ),
                None,
            )
            met, known = (
                (self.view.quality.met_up_to, self.view.quality.met_up_to_known)
                if criterion is None
                else (item.met_up_to, item.met_up_to_known)
                if item
                else (None, EXACT)
            )
            if met is None:
                return {"never"}
            return {phrase("page.full_range")} if met == graph.high else {marked(f"{met:,}", known)}
        if column == "Headroom":
            if criterion is not None and criterion.confidence is not None:
                return {""}
            return _headrooms(self._used(criterion))
        if column == "Limit":
            if criterion is None:
                return {"≤ 1"}
            word = ("<≤" if criterion.at_most else ">≥")[not criterion.strict]
            limits = self.told(
                graph.number(criterion.limit), criterion.dimension, share=in_percent(criterion)
            )
            return {f"{word} {one}" for one in limits}
        return {""}

    def _used(self, criterion: Criterion | None) -> float:
        """Return which part of its limit a requirement uses, or quality."""
        graph = self.graph
        value = self.here(graph.quality_value if criterion is None else criterion.value)  # type: ignore[arg-type]
        limit = 1.0 if criterion is None else graph.number(criterion.limit)
        if not limit > 0:
            return nan
        if criterion is None or criterion.at_most:
            return value / limit
        return limit / value if value > 0 else inf

    def _state(self, what: Cell, criterion: Criterion | None, state: Cell) -> Iterator[str]:
        if "not evaluated" in state.lights:
            return
        if criterion is not None and criterion.confidence is not None:
            return  # what it comes to in samples decides
        name = QUALITY if criterion is None else criterion.name
        yield from _state_differs(what, state, self._used(criterion), name == self.limiting)

    @property
    def limiting(self) -> str | None:
        """Return what limits the capacity, where a page shows that very population."""
        return self.solution.limited_by if self.at == self.solution.at else None

    def _gauges(self, table: ShownTable) -> Iterator[str]:
        """The bar, the utilization, the target and the state of each resource."""
        for what, bar, load, target, state in table.rows:
            found = [
                one
                for name, one in self.graph.resources.items()
                if what.text.startswith(self.called(name)) or what.name == name
            ]
            truths = [(self.here(one.load), self._lowest(one), one) for one in found]
            if not any(
                load.text in self.told(is_, share=True)
                and target.text in self.told(most, share=True)
                and not [*self._made_up(what, _behind(what, one, self), one.parts, is_)]
                and not [*_state_differs(what, state, is_ / most, self._limits(one))]
                for is_, most, one in truths
            ):
                yield f"{what.text}: {[load.text, target.text, state.text]}, not {truths}"
            if bar.text:
                yield f"{what.text} has {bar.text} beside its bar"

    def _limits(self, resource: ResourceLoad) -> bool:
        return self.limiting is not None and resource_in(self.limiting) == resource.name

    def _lowest(self, resource: ResourceLoad) -> float:
        """Return the lowest limit of a utilization: its target, or what a requirement allows."""
        stated = (f"{resource.name}.load", f"{resource.name}.utilization")
        required = [
            self.graph.number(one.limit)
            for one in self.graph.criteria
            if one.name in stated and one.at_most
        ]
        return min(self.here(resource.target), *required, inf)

    def _limits_in_order(self, table: ShownTable) -> Iterator[str]:
        """Populations at which limits are reached, or requirements where nobody is supported."""
        met = {one.measure: one.met_up_to for one in self.view.requirements}
        of = {one.name: one for one in self.solution.resources}
        is_population, last = table.head[-1] == "Reached at", -inf
        for what, _, at in table.rows:
            names = self.names_in(what)
            if is_population:
                wanted = {f"{met[name]:,}" for name in names if met.get(name) is not None}
                if what.text == self.labels.of(QUALITY) and self.view.quality.met_up_to is not None:
                    wanted.add(f"{self.view.quality.met_up_to:,}")
                wanted |= {one for name in names if name in of for one in self._saturates(of[name])}
                if worth(at.text) < last:
                    yield f"{what.text} is not in its order"
                last = worth(at.text)
            else:
                wanted = {
                    one
                    for name in names
                    if (criterion := self._criterion(name)) is not None
                    for one in self.measured(criterion, self.graph.low)
                }
            yield from _differs(what, table.head[-1], at, wanted)

    def _modes(self, table: ShownTable) -> Iterator[str]:
        modes = {one.mode: one for one in self.view.modes}
        for name, users, *_ in table.rows:
            mode = modes.get(name.text)
            if mode is None:
                yield f"no mode {name.text}"
                continue
            largest = mode.capacity
            known = "none" if largest is None else marked(f"{largest:,}", mode.known)
            yield from _differs(name, "users", users, {known})

    def _resources(self, table: ShownTable) -> Iterator[str]:
        of = {one.name: one for one in self.solution.resources}
        for what, *cells in table.rows:
            name = self.name_in(
                Cell(re.sub(r", busiest of .*", "", what.text), what.name.split(",")[0]), of
            )
            item = of.get(name or "")
            if item is None:
                yield f"nobody knows {what}"
                continue
            resource = self.graph.resources[item.name]
            load = self.here(resource.load)
            for column, cell in zip(table.head[1:], cells, strict=True):
                if self._at_of(column) is not None:
                    yield from _differs(what, column, cell, self.told(load, share=True))
                elif column in (phrase("table.saturates"), phrase("table.reaches_target")):
                    yield from _differs(what, column, cell, self._saturates(item))
                elif column == "Demand":
                    yield from self._made_up(what, cell, resource.parts, load)
                elif column == "Target":
                    yield from _differs(
                        what, column, cell, self.told(self.here(resource.target), share=True)
                    )

    def _saturates(self, item: object) -> set[str]:
        saturation, target = item.saturation, item.target  # type: ignore[attr-defined]
        found: set[str] = set()
        if saturation.at is None:
            return found | (
                {phrase("table.never")}
                if saturation.not_below is None
                else {f"≥ {saturation.not_below:,}"}
            )
        for near in (saturation.at, saturation.at * (1 + SAME)):
            found |= {whole_population(near), f"{whole_population(near)} ({percent(target)})"}
        if saturation.not_below is not None:
            found |= {
                f"{saturation.not_below:,}–{floor(saturation.at):,}",
                f"{saturation.not_below:,}–{floor(saturation.at) + 1:,}",
            }
        is_at_start = saturation.at <= self.graph.low
        at = whole_population(saturation.at)
        return found | ({phrase("table.at_start", low=at)} if is_at_start else set())

    def _made_up(
        self, what: Cell, cell: Cell, parts: Mapping[str, Formula], load: float
    ) -> Iterator[str]:
        shares = {
            f"{written} {text}"
            for name, part in parts.items()
            if load
            for written in (self.called(name), self.labels.of(name))
            for text in self.told(self.here(part) / load, share=True)
        }
        left = cell.text
        for share in sorted(shares, key=len, reverse=True):
            left = left.replace(share, "")
        if numbers_in(left) or "%" in left:
            yield f"{what.text} is made up of {cell.text!r}, of which nobody knows {left!r}"

    def _stream_measure(self, name: str) -> tuple[float, Dimension, bool] | None:
        owner, _, part = name.rpartition(".")
        stream = self.graph.streams.get(owner)
        if stream is None:
            return None
        formulas: Mapping[str, tuple[Formula, Dimension, bool]] = {
            "latency": (stream.mean_latency, TIME, False),
            "jitter": (total(one.value for one in stream.jitter), TIME * TIME, False),
            "loss": (stream.loss, DIMENSIONLESS, True),
            "throughput": (stream.throughput, DATA_RATE, False),
        }
        if part not in formulas:
            return None
        formula, dimension, is_share = formulas[part]
        return self.here(formula), dimension, is_share

    def _measures(self, table: ShownTable) -> Iterator[str]:
        graph = self.graph
        for what, value, about in table.rows:
            name = self.name_in(what) or what.text
            of_stream = self._stream_measure(name)
            if name in graph.measures:
                one = graph.measures[name]
                known = known_at(graph, one, self.at)
                wanted = self.told(self.here(one.value), one.dimension, known)
                wanted |= self.told(self.here(one.value), one.dimension, known, share=True)
            elif of_stream is not None:
                number_, dimension, is_share = of_stream
                owner, _, part = name.rpartition(".")
                known = self._measures_here.known(
                    ir.Measured(kind=ir.MeasureKind(part), subject=owner)
                )
                wanted = self.told(number_, dimension, known, share=is_share)
            elif name in ("Cost", "Running cost"):
                cost = graph.cost(is_running=name == "Running cost")
                if cost is None:
                    yield f"no {name.lower()} is known"
                    continue
                dimension = MONEY / TIME if name == "Running cost" else MONEY
                wanted = self.told(self.here(cost), dimension)
                each = self.told(self.here(cost) / self.at, dimension)
                if not any(about.text.startswith(one) for one in each):
                    yield f"{name} for each is {about.text}, not {each}"
            else:
                elastic = next((one for one in graph.elastic if one.parameter.name == name), None)
                if elastic is None:
                    yield f"nobody knows {what}"
                    continue
                wanted = self.told(self.here(elastic.value), elastic.parameter.dimension)
            yield from _differs(what, "value", value, wanted)

    @cached_property
    def _measures_here(self) -> Measures:
        """Return the measures as they are known at the population."""
        return Measures.of_graph(self.graph, in_series_at(self.graph, self.at))

    def _traffic(self, table: ShownTable) -> Iterator[str]:
        for what, at, hour, month, *_ in table.rows:
            name = self.name_in(
                Cell(re.sub(r", busiest of .*", "", what.text), what.name.split(",")[0]),
                self.graph.resources,
            )
            resource = self.graph.resources.get(name or "")
            if resource is None or resource.throughput is None:
                yield f"nobody knows {what}"
                continue
            rate = self.here(resource.throughput)
            yield from _differs(what, "rate", at, self.told(rate, DATA_RATE))
            yield from _differs(what, "per hour", hour, self.told(rate * 3600, INFORMATION))
            yield from _differs(what, "per month", month, self.told(rate * MONTH, INFORMATION))

    # -- what would help -----------------------------------------------------------------------

    def _advice(self, table: ShownTable) -> Iterator[str]:
        known = {one.words: one for one in self.view.advice}
        for _, change, users, *_ in table.rows:
            if change.name.startswith("qps "):
                wanted = self._answered(change.name)
            elif change.text in known:
                one = known[change.text]
                wanted = {marked_users(one.capacity, one.known, range_limits=one.range_limits)}
            else:
                wanted = {"what nobody has tried"}
            yield from _differs(
                change,
                "users",
                users,
                wanted
                | {
                    one.replace("≤ ", "at most ").replace("≥ ", "at least ").replace("~ ", "about ")
                    for one in wanted
                },
            )

    def _answered(self, command: str) -> set[str]:
        """Return how many users a command of `qps solve` is answered with."""
        words = shlex.split(command)
        sets = [after for word, after in pairwise(words) if word == "--set"]
        scenario = next((b for a, b in pairwise(words) if a == "--scenario"), None)
        spec = self.spec.with_parts_of(sets)
        try:
            solution = solve_model(spec.model, spec.configuration(scenario, sets))
        except QpsError as error:
            if "unknown unit" not in str(error):
                return {f"{command} is refused: {error}"}
            # Its unit has another name outside of its module.
            solution = self._with_number(sets[-1])
        return _capacities(solution)

    def _with_number(self, setting: str) -> Solution:
        """Return the answers with another number, in the unit in which it stands."""
        name, _, amount = setting.partition("=")
        value = self._in_its_unit(name.strip(), Fraction(amount.split()[0]))
        return solve(self.graph.with_values({name.strip(): value}))

    def _in_its_unit(self, name: str, amount: Fraction) -> Formula:
        """Return the value of a number, of which an amount is written in the unit it stands in."""
        known = self.graph.assumptions[name]
        factor, _ = unit_of(known.text, known.fraction, known.dimension)
        return exact_number(amount * factor)

    def _elasticities(self, table: ShownTable) -> Iterator[str]:
        known = {one.parameter: one.elasticity for one in self.view.sensitivity}
        for what, effect, *_ in table.rows:
            name = self.name_in(what, known) or what.text
            if name not in known:
                yield f"nobody knows what {what} moves"
                continue
            said = float(effect.text.replace("−", "-").removesuffix("%"))
            if abs(said - known[name]) > 0.0051 + ROUNDED * abs(known[name]):
                yield f"{what.text} moves the answer by {effect.text}, not {known[name]}"

    # -- users over two numbers --------------------------------------------------------------------

    def _heat(self, table: ShownTable) -> Iterator[str]:
        """The corners and the middle: numbers are told as they were set there."""
        up, _, across = table.head[0].partition(" \\ ")
        names = [self._moved(name) for name in (across, up)]
        if None in names:
            yield f"nobody knows the numbers of {table.head[0]}"
            return
        rows = table.rows[:: max(1, (len(table.rows) - 1) // 2)]
        for row in rows:
            cells = list(zip(table.head[1:], row[1:], strict=True))
            for x, cell in cells[:: max(1, (len(cells) - 1) // 2)]:
                values = dict(zip(names, (x, row[0].text), strict=True))
                wanted = self._capacities_with(values)
                yield from _differs(row[0], x, cell, wanted)

    def _moved(self, called: str) -> str | None:
        """Return the number that a page calls so, of those that can be moved."""
        found = self.names.get(called, ())
        return next((one for one in found if one in self.graph.assumptions), None)

    def _capacities_with(self, values: Mapping[str | None, str]) -> set[str]:
        """Return what a page may write of the users with other numbers."""
        set_to = {}
        for name, text in values.items():
            assert name is not None
            set_to[name] = self._in_its_unit(name, Fraction(str(worth(numbers_in(text)[0]))))
        solution = solve(self.graph.with_values(set_to))
        return _capacities(solution)

    # -- odds ------------------------------------------------------------------------------------

    def _likely(self, table: ShownTable) -> Iterator[str]:
        odds = self.view.uncertainty
        if odds is None:
            yield "there are no odds"
            return
        of = odds.bottlenecks if table.head[0] == "Resource" else odds.requirements
        chances = {self.called(one.name): one.probability for one in of}
        for what, chance in table.rows:
            if what.text not in chances:
                yield f"nobody knows how likely {what.text} is"
                continue
            yield from _near(what, chance, chances[what.text], 0.1 if self.draws_own else 0.0051)

    def _measure_next(self, table: ShownTable) -> Iterator[str]:
        for row in table.rows:
            if not any(numbers_in(cell.text) for cell in row):
                yield f"nothing is told of {row[0].text}"

    def _histogram(self, table: ShownTable) -> Iterator[str]:
        shares = [
            worth(numbers_in(cell.text)[0]) for _, cell in table.rows if numbers_in(cell.text)
        ]
        if not 97 < sum(shares) < 103:
            yield f"samples come to {sum(shares)} % together"

    # -- where time goes -----------------------------------------------------------------------

    def _steps(self, name: str) -> tuple[Step, ...]:
        """Return the steps of a stream's way."""
        return path_of(self.graph.streams[name], self.graph.network).steps

    def _places(self, table: ShownTable) -> Iterator[str]:
        loads = {
            text
            for one in self.graph.resources.values()
            for text in self.told(self.here(one.load), share=True)
        }
        for row in table.rows:
            for column, cell in zip(table.head, row, strict=True):
                if column == "Utilization":
                    for told in filter(None, cell.text.split(", ")):
                        found = re.search(r"(?:^| )([\d.,]+ %|∞)$", told)
                        if found is None or found[1] not in loads:
                            yield f"{row[0].text} is loaded {told}"

    def _way(self, table: ShownTable) -> Iterator[str]:
        sums = dict(zip(SUMS, ("mean", "late"), strict=True))
        streams = self.graph.streams.values()
        truth = {
            "mean": {
                t
                for s in streams
                for t in self.told(self.here(s.mean_latency), TIME, s.latency_certainty)
            },
            "late": {
                t
                for s in streams
                for t in self.told(
                    self.here(s.latency_quantile(LEVEL)), TIME, s.quantile_certainty(LEVEL)
                )
            },
        }
        for row in table.rows:
            cells = dict(zip(table.head, row, strict=True))
            what = cells["Stage (mean per item)"]
            for column in ("Each", "Time"):
                if column in cells and what.text in sums:
                    yield from _differs(what, column, cells[column], truth[sums[what.text]])

    # -- pictures ------------------------------------------------------------------------------

    def _of_line(self, of: str, name: str) -> list[Callable[[float], float]]:
        """Return what a line of a picture may show at a population."""
        graph = self.graph
        bare = re.sub(r" \((?:approximation|upper bound|lower bound|simulated)\)$", "", name)
        if of == "picture-loads":
            loads = [
                graph.resources[one] for one in self.names.get(bare, ()) if one in graph.resources
            ]
            return [lambda at, one=one: self._value(one.fullness, at) for one in loads]
        if of != "picture-needs":
            return []
        if bare.startswith("quality ("):
            return [lambda at: self._value(graph.quality_value or ZERO, at)]
        names = self.names.get(bare.removesuffix(" (limit / value)"), ())
        return [
            lambda at, one=one: self._share(one, one.value, at)
            for one in graph.criteria
            if one.span is not None and one.name in names
        ]

    def _measures_of(self, name: str) -> Iterator[Formula]:
        """Yield the measure of the spec's own that is called so."""
        yield from (one.value for one in self.graph.measures.values() if one.name == name)

    def _value(self, formula: Formula, at: float) -> float:
        return self.graph.at(at).number(formula)

    def _share(self, criterion: Criterion, measure: Formula, at: float) -> float:
        """Return what part of the limit of a requirement a measure uses."""
        value, limit = self._value(measure, at), self.graph.number(criterion.limit)
        if limit <= 0 or isnan(value):
            return nan
        if criterion.at_most:
            return value / limit
        return limit / value if value > 0 else inf

    def _line(self, line: Line) -> Iterator[str]:
        lines = self._of_line(line.of, line.name)
        points = list(zip(line.at, line.values, strict=True))[:: max(1, len(line.at) // POINTS)]
        if lines and not any(all(_is_at(one(at), said) for at, said in points) for one in lines):
            yield f"{line.name} is {points}, not {[lines[0](at) for at, _ in points]}"

    def _over_users(self, table: ShownTable) -> Iterator[str]:
        rows = table.rows[:: max(1, len(table.rows) // POINTS)]
        for k, name in enumerate(table.head[1:], 1):
            lines = self._of_line(table.of, name)
            told = [(row[0].text, row[k].text.split(" (")[0]) for row in rows]
            wrong = [
                [
                    f"{name} is {said} at {at}"
                    for at, said in told
                    if not self._is_near(one, at, said)
                ]
                for one in lines
            ]
            yield from min(wrong, key=len, default=[])

    def _is_near(self, value: Callable[[float], float], at: str, said: str) -> bool:
        """Tell whether a value is as told, at a population that is told in four digits."""
        place = worth(at)
        off = 0.0 if place.is_integer() and place < 1e4 else 6e-4 * place
        around = [value(max(self.graph.low, near)) for near in {place - off, place, place + off}]
        if not numbers_in(said):
            return not all(map(isfinite, around))
        read = worth(numbers_in(said)[0]) / (100 if "%" in said else 1)
        if read == inf:
            return not all(map(isfinite, around))
        least, most = min(around), max(one if isfinite(one) else inf for one in around)
        return least - ROUNDED * abs(least) - SAME <= read <= most + ROUNDED * abs(most) + SAME

    # -- claims -------------------------------------------------------------------------------

    def _claims(self, table: ShownTable) -> Iterator[str]:
        """Yield where a claim is told otherwise than `qps test --format json` tells it."""
        yield from wrong_claims(table, self.claims, _amounts)

    def _claims_left_out(self, shown: Shown) -> Iterator[str]:
        """Yield where what became of all claims is not summarized as the test does."""
        if not self.claims:
            return
        wanted = printed_claims(self.claims)["summary"]
        if wanted not in shown.told("claims") or shown.table("claims") is None:
            yield f"claims: {shown.told('claims')}, not {wanted!r}"

    # -- what the spec states ------------------------------------------------------------------

    def _assumptions(self, table: ShownTable) -> Iterator[str]:
        for what, *_ in table.rows:
            name = self.name_in(what)
            if name is None and what.text not in {c.name for c in self.graph.numbers.cited}:
                yield f"nobody knows the number {what}"

    def _parts(self, table: ShownTable) -> Iterator[str]:
        if table.head[:2] != ("Component", "Value"):
            yield f"nobody compares {table.head}"

    # -- sentences -------------------------------------------------------------------------------

    @cached_property
    def _pool(self) -> frozenset[tuple[str, str]]:
        """Return all amounts that sentences and pictures may say, with and without their units."""
        return frozenset(_amounts(self._sayings()))

    def _sayings(self) -> Iterator[str]:
        graph, view = self.graph, self.view
        yield from (file.read_text("utf-8") for file in self.spec.files)
        span = self.spec.model.population.span
        yield "" if span is None else span.source.text
        populations = {
            self.at,
            self.at + 1,
            graph.low,
            graph.high,
            self.solution.at,
            self.solution.at + 1,
        }
        if view.more_users is not None:
            populations.add(view.more_users.at)
        for at in populations:
            if not graph.low <= at <= graph.high + 1:
                continue
            yield f"{at:,}"
            yield from self._sayings_at(at)
        for item in self.solution.requirements:
            yield "" if item.met_up_to is None else f"{item.met_up_to:,}"
        for one in self.solution.resources:
            where = one.saturation.at
            if where is not None:
                last = floor(where)
                yield f"{number(where)} {number(last)} {last:,} {last - 1:,}"
        for failure in self.solution.failures:
            yield "" if failure.first is None else f"{failure.first:,} {failure.first - 1:,}"
        if view.next_limit is not None and view.next_limit.met_up_to is not None:
            yield f"{view.next_limit.met_up_to:,}"
        reliable = None if view.reliable_capacity is None else view.reliable_capacity.capacity
        yield "" if reliable is None else _as_planned(reliable)
        for mode in view.modes:
            yield f"{mode.capacity:,}" if mode.capacity is not None else ""
        for change in view.advice:
            yield f"{change.words} {change.capacity:,}"
        for sensitivity in view.sensitivity:
            yield f"{sensitivity.elasticity:.2f}"
        for elastic in self.solution.elastic:
            for knee in (elastic.yields, elastic.exhausted, *elastic.changes):
                yield "" if knee is None else f"{number(knee.at)} {whole_population(knee.at)}"
        yield from (assumption.text for assumption in graph.assumptions.values())
        steps = sum(len(self._steps(name)) for name in graph.streams)
        yield " ".join(map(str, range(steps + len(graph.resources))))
        yield from (*SUMS, "1 % more", "10 % more", "95 % sure", "90 % interval")
        yield phrase("price.how", hardware="")
        if view.uncertainty is not None:
            yield samples_text(view.uncertainty.samples, len(view.uncertainty.shares))
            halved = [share.capacity_if_halved for share in view.uncertainty.shares]
            yield from (percent(share.first_order, 2) for share in view.uncertainty.shares)
            yield from (percent(one.probability, 2) for one in view.uncertainty.bottlenecks)
            for end in (
                view.uncertainty.interval.least,
                view.uncertainty.interval.most,
                view.uncertainty.at_confidence.capacity,
                *halved,
            ):
                yield "" if end is None else f"{end:,} {rounded_down(end)} {rounded_up(end)}"

    def _sayings_at(self, at: int) -> Iterator[str]:
        graph = self.graph
        value, before = graph.at(at).number, graph.at(self.solution.at).number
        for criterion in graph.criteria:
            share = in_percent(criterion) or criterion.span is None
            error = known_at(graph, criterion, at).error
            yield "" if error is None else percent(error)
            for formula in (criterion.value, criterion.limit):
                most = value(criterion.limit)
                yield from self.told(value(formula), criterion.dimension, share=share, limit=most)
                yield from self.told(value(formula), criterion.dimension)
        for one in graph.resources.values():
            load = value(one.load)
            yield from self.told(load, share=True, limit=value(one.target))
            yield from self.told(value(one.target), share=True)
            yield f"{floor(load * 100) + 1 if isfinite(load) else 0:,} %"
            for part in (*one.parts.values(), *one.streams.values()):
                yield from self.told(value(part) / load if load else 0.0, share=True)
        for name, stream in graph.streams.items():
            late = value(stream.latency_quantile(LEVEL))
            mean = value(stream.mean_latency)
            for time in (late, mean, mean - before(stream.mean_latency)):
                yield from self.told(time, TIME)
            yield from self.told(value(stream.loss), share=True)
            if at == self.at:
                yield from self._sayings_of_way(name)
        for measure in graph.measures.values():
            yield from self.told(value(measure.value), measure.dimension)
        for elastic in graph.elastic:
            for formula in (elastic.value, elastic.parameter.most, elastic.parameter.least):
                yield from self.told(value(formula), elastic.parameter.dimension)
        for price in graph.stated.prices:
            yield from self.told(value(price.value), MONEY / TIME if price.is_running else MONEY)
        for cost in self.solution.costs:
            formula = graph.cost(is_running=cost.is_running)
            if formula is not None:
                dimension = MONEY / TIME if cost.is_running else MONEY
                yield from self.told(value(formula), dimension)
                yield from self.told(value(formula) / at, dimension)
        if graph.quality_value is not None:
            yield from self.told(value(graph.quality_value))

    def _sayings_of_way(self, name: str) -> Iterator[str]:
        """Yield the times of a way: of each step, of several in a row, at each place, in calls."""
        mean = self.here(self.graph.streams[name].mean_latency)
        values, sums, often = list[float](), dict[tuple[object, ...], float](), {1.0}
        made: list[tuple[int, float, int]] = [(0, 1.0, 0)]  # how deep, how often, which call
        for at, step in enumerate(self._steps(name), 1):
            while made[-1][0] > step.depth:
                made.pop()
            value = self.here(step.value)
            if step.kind == "call":
                yield from (*self.told(value), *self.told(value, share=True))
                made.append((step.depth + 1, made[-1][1] * value, at))
                often.add(made[-1][1])
                continue
            values.append(value)
            spent = "work" if step.kind == "transfer" else step.kind
            for key in product((step.place, *(call for *_, call in made)), (spent, "")):
                sums[key] = sums.get(key, 0.0) + value
        ends = range(1, len(values) + 1) if len(values) <= MOST_STEPS else ()
        runs = (sum(values[a:b]) for a, b in product(range(len(values)), ends))
        for time, times in product({*values, *sums.values(), *runs}, often):
            yield from self.told(time * times, TIME)
            yield from self.told(time * times / mean if mean else 0.0, share=True)

    def _decision(self, texts: Sequence[ShownText]) -> Iterator[str]:
        """Yield where the first lines name another number of users than what they are named for."""
        facts = {a.text: b.text for a, b in pairwise(texts) if (a.kind, b.kind) == ("dt", "dd")}
        view, many = self.view, texts[0].text if texts else ""
        following = None if view.next_limit is None else view.next_limit.met_up_to
        if following is not None and f"{following:,}" not in numbers_in(facts["Next limit"]):
            yield f"{facts['Next limit']} is the next limit, not {view.next_limit}"
        largest = view.capacity
        said = f"{largest:,}" if largest is not None else "no"
        if view.uncertainty is None and said not in many.lower():
            yield f"{many}, not {largest}"

    def _drawn(self, texts: Sequence[str]) -> Iterator[str]:
        """Yield where an interval of a page's own samples, which are fewer, lies elsewhere."""
        odds = self.view.uncertainty
        if odds is None or odds.interval is None:
            return
        found = [one for text in texts for one in _BETWEEN.findall(text)]
        wanted = [end or 0 for end in (odds.interval.least, odds.interval.most)]
        if not found or not all(
            abs(worth(said) - end) <= _OWN_SAMPLES * end
            for said, end in zip(found[0], wanted, strict=True)
        ):
            yield f"{texts} tells another interval than {wanted}"

    def _texts(self, shown: Shown) -> Iterator[str]:
        """Yield what a sentence or a picture says that is no number of anything."""
        yield from self._decision([one for one in shown.texts if one.of == "decision"])
        drawn = _amounts(shown.told("odds")) if self.draws_own else set()
        yield from self._drawn(shown.told("odds")) if self.draws_own else ()
        for one in shown.texts:
            if one.of not in _SAID_OF_NUMBERS or one.kind in (
                "h1",
                "h2",
                "label",
                "summary",
                "option",
            ):
                continue
            if "tick" in one.as_.split():
                continue
            own = _amounts(
                cell.text
                for table in shown.tables
                if table.of in (one.of, _JUDGED_BESIDE.get(one.of))
                for row in table.rows
                for cell in row
            )
            strange = [
                f"{number} {word}".strip()
                for number, word in amounts_in(one.text)
                if (number, word if word in _UNITS else "") not in self._pool | own | drawn
            ]
            if strange:
                yield f"{one.of}: nobody knows {strange} of {one.text!r}"


def _apart(value: float, limit: float, dimension: Dimension, *, share: bool) -> str:
    """Return a value in as many digits as it takes to tell it from a limit."""
    for digits in range(4, 16):
        told = quantity(value, dimension, digits, share=share)
        if told != quantity(limit, dimension, digits, share=share):
            return told
    return quantity(value, dimension, share=share)


def _amounts(texts: Iterable[str]) -> set[tuple[str, str]]:
    found = {one for text in texts for one in amounts_in(text)}
    return found | {(number, "") for number, _ in found}


_UNITS = frozenset(
    unit
    for dimension in (TIME, DATA_RATE, INFORMATION, MONEY, MONEY / TIME, TIME * TIME)
    for _, unit in scales(dimension)
) | {"%"}
"""Words behind numbers that are units: what stands with one is that amount."""
_JUDGED_BESIDE = {"decision": "advice"}
"""Where numbers of sentences stand in a table of another place, too."""
_SAID_OF_NUMBERS = frozenset(
    (
        *("answer", "decision", "headroom", "small-answer", "comparison"),
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


def _headrooms(used: float) -> set[str]:
    """Return what a page may write of what is left of a limit."""
    left = 100 * (1 - used)
    if not isfinite(left):
        return {""}
    found = {"<1 %"} if -SAME < left < 1 + SAME else set()
    for near in (left - 1e-6, left + 1e-6):
        found.add(f"{'−' if round(near) < 0 else ''}{abs(round(near)):,} %")
    return found


def _behind(what: Cell, resource: ResourceLoad, truth: Truth) -> Cell:
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
