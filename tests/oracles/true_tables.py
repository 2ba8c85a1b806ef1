"""What is true of the tables of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from math import floor, inf, nan

from msgspec.structs import replace

from browsers.page_numbers import Cell, ShownTable
from oracles.written_numbers import (
    SAME,
    WrittenNumbers,
    _behind,
    _differs,
    _headrooms,
    _state_differs,
    is_open_at,
    numbers_in,
    worth,
)
from qps.compiler import ir
from qps.compiler.ir.measure_names import resource_in, utilization_of
from qps.compiler.lower.load_graph import Criterion
from qps.compiler.lower.requirements.lower_measures import Measures
from qps.compiler.lower.requirements.serial_losses import in_series_at, known_at, quality_known_at
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.quantities.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION,
    MONEY,
    TIME,
    Dimension,
)
from qps.engine.expressions.formulas import Formula, total
from qps.reports.text.words.certainty_marks import marked
from qps.reports.text.words.estimates import limit_of
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    in_percent,
    percent,
    whole_population,
)
from qps.solver.answers.answer_parts import MONTH
from qps.solver.answers.solution import QUALITY

_LIMIT_ALLOWED = re.compile(r"(.*?)((?:[≤≥<>] .*)?)")


class TrueTables(WrittenNumbers):
    """What `solve` and its graph say of what stands in tables."""

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
            mean = f" {phrase('table.mean')}"
            of = replace(what, text=what.text.removesuffix(mean))
            name = self.name_in(of, self._required) or ""
            criterion = None if is_quality else self._criterion(name)
            if what.text.endswith(mean) is not name.endswith(".latency"):
                yield f"the requirement {what} is of a mean, or not, by its text alone"
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
                value = self._value_shown(criterion.name, graph.at(at).number(criterion.value), at)
                return self.reported(
                    value,
                    criterion.dimension,
                    known_at(graph, criterion, at),
                    share=in_percent(criterion),
                    limit=graph.number(criterion.limit),
                )
            assert graph.quality_value is not None
            known = quality_known_at(graph, at)
            return self.reported(
                graph.at(at).number(graph.quality_value), known=known, limit=1.0
            ) | {""}
        if column == "Met up to":
            met, known = self.met_up_to(QUALITY if criterion is None else criterion.name)
            if met is None:
                return {"never"}
            return {phrase("page.full_range")} if met == graph.high else {marked(f"{met:,}", known)}
        if column == "Headroom":
            if criterion is not None and criterion.confidence is not None:
                return {""}
            left = _headrooms(self._used(criterion))
            return left | {f"≤ {one}" for one in left if one}
        if column == "Limit":
            if criterion is None:
                return {"≤ 1"}
            word = ("<≤" if criterion.at_most else ">≥")[not criterion.strict]
            limits = self.reported(
                graph.number(criterion.limit), criterion.dimension, share=in_percent(criterion)
            )
            return {f"{word} {one}" for one in limits}
        return {""}

    def _used(self, criterion: Criterion | None) -> float:
        """Return which part of its limit a requirement uses, or quality."""
        graph = self.graph
        value = self.here(graph.quality_value if criterion is None else criterion.value)  # type: ignore[arg-type]
        if criterion is not None:
            value = self._value_shown(criterion.name, value)
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
        if is_open_at(self.graph, criterion, self.at):
            yield from () if state.text in ("Unknown", "At limit", "Over") else (str(what),)
            return
        yield from _state_differs(what, state, self._used(criterion), name == self.limiting)

    @property
    def limiting(self) -> str | None:
        """Return what limits the capacity, where a page shows that very population."""
        if self.at != self.headline:
            return None
        return self.solution.limited_by if self.beside is None else self.beside.limited_by

    def _value_shown(self, name: str, nominal: float, at: int | None = None) -> float:
        """Return a value as it stands beside the headline, at its confidence and population."""
        if self.own_values and at in (None, self.at):
            return self.own_values.get(name, nominal)
        if self.at != self.headline or (at is not None and at != self.headline):
            return nominal
        if self.beside is None:
            return nominal
        found = (*self.beside.utilizations, *self.beside.requirements)
        return next((one.value for one in found if one.name == name), nominal)

    def _gauges(self, table: ShownTable) -> Iterator[str]:
        """The bar, the utilization, the target and the state of each resource."""
        for what, bar, load, target, state in table.rows:
            found = [
                one
                for name, one in self.graph.resources.items()
                if what.text.startswith(self.called(name)) or what.name == name
            ]
            truths = [
                (self._value_shown(one.name, self.here(one.load)), self._lowest(one), one)
                for one in found
            ]
            if not any(
                self._is_load(load.text, is_, self.here(one.load))
                and target.text in self.reported(most, share=True)
                and not [
                    *self._made_up(
                        what, _behind(what, one, self), one.parts, self.here(one.load), digits=2
                    )
                ]
                and not [*_state_differs(what, state, is_ / most, self._limits(one))]
                for is_, most, one in truths
            ):
                yield f"{what.text}: {[load.text, target.text, state.text]}, not {truths}"
            if bar.text:
                yield f"{what.text} has {bar.text} beside its bar"

    def _is_load(self, text: str, value: float, nominal: float) -> bool:
        """Return whether a gauge shows a load, and beside it that of nominal inputs, if at all."""
        shown, _, beside = text.partition("nominal")
        return shown.strip() in self.bar_labels(value) and (
            not beside or beside.strip() in self.bar_labels(nominal)
        )

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
        met = {
            one.measure: marked(f"{most:,}", known)
            for one in self.view.requirements
            for most, known in [self.met_up_to(one.measure)]
            if most is not None
        }
        of = {one.name: one for one in self.solution.resources}
        is_population, last = table.head[-1] == "Reached at", -inf
        for what, _, at in table.rows:
            called, most = _LIMIT_ALLOWED.fullmatch(what.text).groups()  # type: ignore[union-attr]
            name = called.removesuffix(phrase("page.saturated", name=""))
            names = self.names_in(Cell(name, what.name))
            allowed = {one for name in names for one in self._most_allowed(name)}
            if allowed and most not in allowed:
                yield f"{what.text} does not allow {allowed}"
            if is_population:
                wanted = {met[name] for name in names if name in met}
                most_users, known = self.met_up_to(QUALITY)
                if called == self.labels.of(QUALITY) and most_users is not None:
                    wanted.add(marked(f"{most_users:,}", known))
                wanted |= {one for name in names if name in of for one in self._saturates(of[name])}
                found = (self.reliable_limits.get(utilization_of(name)) for name in names)
                wanted |= {f"{most:,}" for most in found if most is not None}
                users = worth(at.text.lstrip("≤≥~ "))
                if users < last:
                    yield f"{what.text} is not in its order"
                last = users
            else:
                wanted = {
                    one
                    for name in names
                    if (criterion := self._criterion(name)) is not None
                    for one in self.measured(criterion, self.graph.low)
                }
                loads = [of.load for name, of in self.graph.resources.items() if name in names]
                there = self.graph.at(self.graph.low)
                wanted |= {one for o in loads for one in self.reported(there.number(o), share=True)}
            yield from _differs(what, table.head[-1], at, wanted)

    def _most_allowed(self, name: str) -> Iterator[str]:
        criterion = self._criterion(name)
        if criterion is not None:
            share = in_percent(criterion)
            yield limit_of(criterion, self.graph.number(criterion.limit), share=share, digits=3)
        resource = self.graph.resources.get(name)
        if resource is not None:
            yield f"≤ {percent(self.here(resource.target))}"

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
                    yield from _differs(what, column, cell, self.reported(load, share=True))
                elif column in (phrase("table.saturates"), phrase("table.reaches_target")):
                    yield from _differs(what, column, cell, self._saturates(item))
                elif column == "Demand":
                    yield from self._made_up(what, cell, resource.parts, load)
                elif column == "Target":
                    yield from _differs(
                        what, column, cell, self.reported(self.here(resource.target), share=True)
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
        self, what: Cell, cell: Cell, parts: Mapping[str, Formula], load: float, digits: int = 3
    ) -> Iterator[str]:
        shares = {
            f"{written} {text}"
            for name, part in parts.items()
            if load
            for written in (self.called(name), self.labels.of(name))
            for text in {
                *self.reported(self.here(part) / load, share=True),
                percent(self.here(part) / load, digits),
            }
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
                wanted = self.reported(self.here(one.value), one.dimension, known)
                wanted |= self.reported(self.here(one.value), one.dimension, known, share=True)
            elif of_stream is not None:
                number_, dimension, is_share = of_stream
                owner, _, part = name.rpartition(".")
                known = self._measures_here.known(
                    ir.Measured(kind=ir.MeasureKind(part), subject=owner)
                )
                wanted = self.reported(number_, dimension, known, share=is_share)
            elif name in ("Cost", "Running cost"):
                cost = graph.cost(is_running=name == "Running cost")
                if cost is None:
                    yield f"no {name.lower()} is known"
                    continue
                dimension = MONEY / TIME if name == "Running cost" else MONEY
                wanted = self.reported(self.here(cost), dimension)
                each = self.reported(self.here(cost) / self.at, dimension)
                if not any(about.text.startswith(one) for one in each):
                    yield f"{name} for each is {about.text}, not {each}"
            else:
                elastic = next((one for one in graph.elastic if one.parameter.name == name), None)
                if elastic is None:
                    yield f"nobody knows {what}"
                    continue
                wanted = self.reported(self.here(elastic.value), elastic.parameter.dimension)
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
            yield from _differs(what, "rate", at, self.reported(rate, DATA_RATE))
            yield from _differs(what, "per hour", hour, self.reported(rate * 3600, INFORMATION))
            yield from _differs(what, "per month", month, self.reported(rate * MONTH, INFORMATION))
