"""What is true of the pictures of a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import inf, isfinite, isnan, nan

from browsers.page_numbers import Line, ShownTable
from oracles.true_changes import TrueChanges
from oracles.written_numbers import POINTS, ROUNDED, SAME, _differs, _is_at, numbers_in, worth
from qps.compiler.lower.load_graph import Criterion
from qps.compiler.quantities.dimension import (
    TIME,
)
from qps.engine.expressions.formulas import ZERO, Formula
from qps.reports.pages.drawings.request_strip import SUMS
from qps.solver.details.request_path import LEVEL, PathStep, path_of


class TruePictures(TrueChanges):
    """What `solve` and its graph say of what is drawn."""

    # -- where time goes -----------------------------------------------------------------------

    def _steps(self, name: str) -> tuple[PathStep, ...]:
        """Return the steps of a stream's way."""
        return path_of(self.graph.streams[name], self.graph.network).steps

    def _places(self, table: ShownTable) -> Iterator[str]:
        loads = {
            text
            for one in self.graph.resources.values()
            for text in self.reported(self.here(one.load), share=True)
        }
        for row in table.rows:
            for column, cell in zip(table.head, row, strict=True):
                if column == "Utilization":
                    for result in filter(None, cell.text.split(", ")):
                        found = re.search(r"(?:^| )([\d.,]+ %|∞)$", result)
                        if found is None or found[1] not in loads:
                            yield f"{row[0].text} is loaded {result}"

    def _way(self, table: ShownTable) -> Iterator[str]:
        sums = dict(zip(SUMS, ("mean", "late"), strict=True))
        streams = self.graph.streams.values()
        truth = {
            "mean": {
                t
                for s in streams
                for t in self.reported(self.here(s.mean_latency), TIME, s.latency_certainty)
            },
            "late": {
                t
                for s in streams
                for t in self.reported(
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
            text = [(row[0].text, row[k].text.split(" (")[0]) for row in rows]
            wrong = [
                [
                    f"{name} is {said} at {at}"
                    for at, said in text
                    if not self._is_near(one, at, said)
                ]
                for one in lines
            ]
            yield from min(wrong, key=len, default=[])

    def _is_near(self, value: Callable[[float], float], at: str, said: str) -> bool:
        """Return whether a value is as shown, at a population that is shown in four digits."""
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
