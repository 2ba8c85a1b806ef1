"""Records of a page: what many variants have in common stands once, and is named by its number."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction

from qps.compiler.diagnostics.render import printable
from qps.compiler.lower.load_graph import Criterion, NamedMeasure
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import Dimension
from qps.engine.expressions.formulas import Formula
from qps.reports.pages.json_values import Json
from qps.reports.pages.live.page_program import PageProgram


class LiveRecords:
    """Gathers records, the dimensions that they name, and the program that their steps are of."""

    def __init__(self, program: PageProgram, dimensions: Iterable[Dimension]) -> None:
        self.program = program
        self.values: list[Json] = []
        self.dimensions: dict[Dimension, None] = dict.fromkeys(dimensions)
        self._known: dict[str, int] = {}
        self._bytes = 0

    @property
    def size(self) -> int:
        """How many bytes the records and the steps take, nearly."""
        return self._bytes + 20 * len(self.program.steps)

    def record(self, value: Json) -> int:
        """Return the number of a record; equal ones are one."""
        text = json.dumps(value, sort_keys=True)
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = len(self.values)
            self.values.append(value)
            self._bytes += len(text)
        return known

    def step(self, formula: Formula) -> int:
        """Return the number of the step of a formula."""
        return self.program.step(formula)

    def dimension(self, dimension: Dimension) -> str:
        """Return the name of a dimension; the page has its units."""
        self.dimensions.setdefault(dimension)
        return str(dimension)


def exact(value: Fraction) -> Json:
    """Return a fraction as two texts: JSON's numbers would round it."""
    return [str(value.numerator), str(value.denominator)]


def known_as(known: Certainty) -> Json:
    """Return how a number is known: None for what is exact."""
    return None if known.is_exact else [known.kind.value, list(known.reasons)]


def knowns(item: Criterion | NamedMeasure) -> dict[str, Json]:
    """Return how a measure is known, and how where saturated resources follow each other."""
    return {
        "known": known_as(item.known),
        "knownInSeries": known_as(item.known_in_series),
        "waitsOf": list(item.waits_of),
    }


def line(text: str | None) -> str:
    """Return a text in one line, without what a terminal or a page would obey."""
    return printable(" ".join((text or "").split()))
