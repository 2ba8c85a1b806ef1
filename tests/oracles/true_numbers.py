"""What is true of a configuration for some users, and where a page says something else.

A number on a page is held against what `solve` and its load graph say of the very thing beside
which it stands, rounded as people read it. A table that nobody holds against anything is told as
well: no number of a page is compared with nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise, product
from math import floor, isfinite, nan

from browsers.page_numbers import Shown, ShownTable, ShownText
from oracles.true_claims import printed_claims, wrong_claims
from oracles.true_pictures import TruePictures
from oracles.written_numbers import (
    _BETWEEN,
    _JUDGED_BESIDE,
    _OWN_SAMPLES,
    _SAID_OF_NUMBERS,
    _UNITS,
    BAD,
    MOST_STEPS,
    _amounts,
    _as_planned,
    amounts_in,
    numbers_in,
    worth,
)
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.quantities.dimension import (
    MONEY,
    TIME,
)
from qps.reports.pages.drawings.request_strip import SUMS
from qps.reports.text.solutions.uncertainty_text import samples_text, uncertain_inputs
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    in_percent,
    number,
    percent,
    rounded_down,
    rounded_up,
    utilization_text,
    whole_population,
)
from qps.solver.details.request_path import LEVEL

_EXAMPLE = re.compile(r"\(write [^)]*\)")
"""What one could write, with numbers of nothing."""


class Truth(TruePictures):
    """What `solve` and its graph say of a configuration, and for so many users."""

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
            "picture-histogram": self._histogram,
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

    # -- claims -------------------------------------------------------------------------------

    def _claims(self, table: ShownTable) -> Iterator[str]:
        """Yield where a claim is told otherwise than `qps test --format json` tells it."""
        yield from wrong_claims(table, self.claims, _amounts)

    def _claims_left_out(self, shown: Shown) -> Iterator[str]:
        """Yield where what became of all claims is not summarized as the test does."""
        if not self.claims:
            return
        wanted = printed_claims(self.claims)["summary"]
        if wanted not in shown.reported("claims") or shown.table("claims") is None:
            yield f"claims: {shown.reported('claims')}, not {wanted!r}"

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
            self.headline,
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
        yield from (f"{most:,}" for most in self.headline_limits.values())
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
            yield "" if change.reliable_capacity is None else _as_planned(change.reliable_capacity)
            yield f"{change.words} {change.capacity:,}"
        yield from self._sayings_next_to_the_headline()
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
            yield samples_text(view.uncertainty.samples, uncertain_inputs(view.uncertainty))
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

    def _sayings_next_to_the_headline(self) -> Iterator[str]:
        """Yield what stands beside the headline, at its confidence."""
        if self.beside is None:
            return
        for one in self.beside.utilizations:
            yield from self.reported(one.value, share=True)
        for one in self.beside.percentiles:
            yield from self.reported(one.value, TIME)
        values = {one.name: one.value for one in self.beside.requirements}
        for item in self.solution.requirements:
            own = item.criterion
            limit, value = self.graph.number(own.limit), values.get(own.name, nan)
            yield from self.reported(value, own.dimension, share=in_percent(own), limit=limit)

    def _sayings_at(self, at: int) -> Iterator[str]:
        graph = self.graph
        value, before = graph.at(at).number, graph.at(self.solution.at).number
        for criterion in graph.criteria:
            share = in_percent(criterion) or criterion.span is None
            error = known_at(graph, criterion, at).error
            yield "" if error is None else percent(error)
            for formula in (criterion.value, criterion.limit):
                most = value(criterion.limit)
                yield from self.reported(
                    value(formula), criterion.dimension, share=share, limit=most
                )
                yield from self.reported(value(formula), criterion.dimension)
        for one in graph.resources.values():
            load = value(one.load)
            yield from self.reported(load, share=True, limit=value(one.target))
            yield from self.reported(value(one.target), share=True)
            yield f"{floor(load * 100) + 1 if isfinite(load) else 0:,} %"
            yield utilization_text(load)
            for part in (*one.parts.values(), *one.streams.values()):
                yield from self.reported(value(part) / load if load else 0.0, share=True)
        for name, stream in graph.streams.items():
            late = value(stream.latency_quantile(LEVEL))
            mean = value(stream.mean_latency)
            for time in (late, mean, mean - before(stream.mean_latency)):
                yield from self.reported(time, TIME)
            yield from self.reported(value(stream.loss), share=True)
            if at == self.at:
                yield from self._sayings_of_way(name)
        for measure in graph.measures.values():
            yield from self.reported(value(measure.value), measure.dimension)
        for elastic in graph.elastic:
            for formula in (elastic.value, elastic.parameter.most, elastic.parameter.least):
                yield from self.reported(value(formula), elastic.parameter.dimension)
        for price in graph.stated.prices:
            yield from self.reported(
                value(price.value), MONEY / TIME if price.is_running else MONEY
            )
        for cost in self.solution.costs:
            formula = graph.cost(is_running=cost.is_running)
            if formula is not None:
                dimension = MONEY / TIME if cost.is_running else MONEY
                yield from self.reported(value(formula), dimension)
                yield from self.reported(value(formula) / at, dimension)
        if graph.quality_value is not None:
            yield from self.reported(value(graph.quality_value))

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
                yield from (*self.reported(value), *self.reported(value, share=True))
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
            yield from self.reported(time * times, TIME)
            yield from self.reported(time * times / mean if mean else 0.0, share=True)

    def _decision(self, texts: Sequence[ShownText]) -> Iterator[str]:
        """Yield where the first lines name another number of users than what they are named for."""
        facts = {a.text: b.text for a, b in pairwise(texts) if (a.kind, b.kind) == ("dt", "dd")}
        view, many = self.view, texts[0].text if texts else ""
        is_reliable = self.beside is not None and bool(self.headline_limits)
        found = self.beside.next_limit if is_reliable and self.beside else view.next_limit
        limit = "" if found is None else found.requirement or ""
        following = None if found is None else self.own_limits.get(limit, found.met_up_to)
        resource = self.graph.resources.get(limit.removesuffix(".utilization"))
        if "Next limit" not in facts:
            following = None  # it is in the picture beside them
        elif following is not None and ": saturated at " in facts["Next limit"] and resource:
            # Whoever may not find it saturated is met at one less.
            is_there = self.graph.at(following).number(resource.load) >= 1
            following += not is_there
        is_other = self.beside is not None and self.beside.limited_by != self.solution.limited_by
        is_other = is_other and not is_reliable
        if is_other and "Next limit" in facts:
            following = view.capacity  # where another limit sets the headline
        if following is not None and f"{following:,}" not in numbers_in(facts["Next limit"]):
            yield f"{facts['Next limit']} is the next limit, not {found}"
        largest = view.capacity
        said = f"{largest:,}" if largest is not None else "no"
        is_planned = self.beside is not None and f"{self.headline:,}" in many
        if view.uncertainty is None and said not in many.lower() and not is_planned:
            yield f"{many}, not {largest}"

    def _drawn(self, texts: Sequence[str]) -> Iterator[str]:
        """Yield where an interval of a page's own samples, which are fewer, lies elsewhere."""
        uncertainty = self.view.uncertainty
        if uncertainty is None or uncertainty.interval is None:
            return
        found = [one for text in texts for one in _BETWEEN.findall(text)]
        wanted = [end or 0 for end in (uncertainty.interval.least, uncertainty.interval.most)]
        if not found or not all(
            abs(worth(said) - end) <= _OWN_SAMPLES * end
            for said, end in zip(found[0], wanted, strict=True)
        ):
            yield f"{texts} tells another interval than {wanted}"

    def _texts(self, shown: Shown) -> Iterator[str]:
        """Yield what a sentence or a picture says that is no number of anything."""
        yield from self._decision([one for one in shown.texts if one.of == "decision"])
        drawn = _amounts(shown.reported("uncertainty")) if self.draws_own else set()
        yield from self._drawn(shown.reported("uncertainty")) if self.draws_own else ()
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
                for number, word in amounts_in(_EXAMPLE.sub("", one.text))
                if (number, word if word in _UNITS else "") not in self._pool | own | drawn
            ]
            if strange:
                yield f"{one.of}: nobody knows {strange} of {one.text!r}"
