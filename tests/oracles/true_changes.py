"""What is true of the tables of what changes do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise

from browsers.page_numbers import ShownTable
from oracles.true_tables import TrueTables
from oracles.written_numbers import (
    NUMBER,
    ROUNDED,
    SAME,
    _capacities,
    _differs,
    _near,
    numbers_in,
    worth,
)
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.printed_capacity import printed_capacity
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.formulas import number as exact_number
from qps.reports.text.words.certainty_marks import MARKS, marked_users
from qps.reports.text.words.spec_units import unit_of
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model

_MET_AT_HEADLINE = 94
"""Per cent of the samples that support a capacity at 95 % confidence, at least."""


class TrueChanges(TrueTables):
    """What `solve` and its graph say of advice, sensitivities and likely limits."""

    # -- what would help -----------------------------------------------------------------------

    def _advice(self, table: ShownTable) -> Iterator[str]:
        known = {one.words: one for one in self.view.advice}
        for _, change, users, *_ in table.rows:
            if self._is_reliable(change.text, users.text):
                continue
            if change.name.startswith("qps "):
                wanted = self._answered(change.name)
                wanted |= {NUMBER.sub(self._printed, one) for one in wanted}
                nominal = [worth(numbers_in(one)[0]) for one in wanted if numbers_in(one)]
                if self.view.uncertainty is not None and nominal:
                    # at the confidence of the headline, by samples of the page
                    if not 0 < worth(numbers_in(users.text)[0]) <= max(nominal):
                        yield f"{change.text}: {users.text}, more than {wanted}"
                    continue
            elif change.text in known:
                one = known[change.text]
                wanted = {marked_users(one.capacity, one.known, range_limits=one.range_limits)}
            else:
                wanted = {"what nobody has tried"}
            if any(numbers_in(one) == [f"{self.graph.high:,}"] for one in wanted):
                wanted.add(f"{self.graph.high:,}+")  # the range ends before the capacity
            # As certain as the headline is what needs no mark beside it.
            wanted |= {one.removeprefix(MARKS[self.view.known.kind]) for one in wanted}
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

    def _printed(self, found: re.Match[str]) -> str:
        """Return a number of users as a capacity is printed."""
        return f"{printed_capacity(int(worth(found[0])), high=self.graph.high):,}"

    def _is_reliable(self, change: str, users: str) -> bool:
        """Return whether a page tells the capacity with a change that can be relied on."""
        one = next((one for one in self.view.advice if one.words == change), None)
        if one is None or one.reliable_capacity is None:
            return False
        many = printed_capacity(one.reliable_capacity, high=self.graph.high)
        return worth(numbers_in(users)[0]) == many

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
        """The corners and the middle: numbers are those that were set there."""
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

    # -- uncertainty -----------------------------------------------------------------------------

    def _likely(self, table: ShownTable) -> Iterator[str]:
        uncertainty = self.view.uncertainty
        if uncertainty is None:
            yield "there is no uncertainty"
            return
        of = uncertainty.bottlenecks if table.head[0] == "Resource" else uncertainty.requirements
        chances = {self.called(one.name): one.probability for one in of}
        for what, chance in table.rows:
            if what.text not in chances:
                yield f"nobody knows how likely {what.text} is"
                continue
            if self.own_values and self.at == self.headline:  # each is met where all are
                if worth(numbers_in(chance.text)[0]) < _MET_AT_HEADLINE:
                    yield f"{what.text} is met in {chance.text} at the headline"
                continue
            yield from _near(what, chance, chances[what.text], 0.1 if self.draws_own else 0.0051)

    def _measure_next(self, table: ShownTable) -> Iterator[str]:
        for row in table.rows:
            if not any(numbers_in(cell.text) for cell in row):
                yield f"nothing says what {row[0].text} is"

    def _histogram(self, table: ShownTable) -> Iterator[str]:
        shares = [
            worth(numbers_in(cell.text)[0]) for _, cell in table.rows if numbers_in(cell.text)
        ]
        if len(shares) > 1 and all(" or more" in place.text for place, _ in table.rows):
            if shares != sorted(shares, reverse=True) or shares[0] <= max(shares[1:]) - SAME:
                yield f"shares of samples rise: {shares}"
        elif not 97 < sum(shares) < 103:
            yield f"samples come to {sum(shares)} % together"
