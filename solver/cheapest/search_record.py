"""What the searches of a plan have come to, which is asked before anything is searched again.

A search is deterministic, and so is whether a configuration supports a population. So a plan that
continues with a record of an interrupted one is the same as a plan that ran at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from msgspec import Struct, field

from qps.compiler.quantities.dimension import Dimension
from qps.solver.cheapest.branch_and_bound import Chosen


class DesignOutcome(Enum):
    """Whether a configuration supports a population; if not, whether it fails there."""

    SUPPORTS = "supports"
    FAILS_THERE = "fails there"
    FAILS_OTHERWISE = "fails for fewer users, or cannot be built"


class CheapestSearch(Struct, frozen=True, kw_only=True):
    """What a search comes to: the cheapest configuration.

    Without it, none that may be found supports the population if the search `is_complete`. Its
    `cost`, rounded down, has a `dimension`. `boxes` and `tried` say how much was bounded, and how
    many configurations were tried.
    """

    found: Chosen | None
    cost: float
    is_complete: bool
    dimension: Dimension
    boxes: int
    tried: int


class RecordedEvaluation(Struct, frozen=True, kw_only=True):
    """A configuration that was tried for a `question`, what it costs at least, and its outcome."""

    question: str
    configuration: Chosen
    least_cost: float | None
    outcome: DesignOutcome


class RecordedSearch(Struct, frozen=True, kw_only=True):
    """A search that has ended for a `question`.

    It needs another effort unless it `is_decided`. `cost` is None where nothing was `found`.
    """

    question: str
    is_decided: bool
    found: Chosen | None = None
    cost: float | None = None
    is_complete: bool = False
    boxes: int = 0
    tried: int = 0


class RecordContent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a record has, as it is stored."""

    evaluations: tuple[RecordedEvaluation, ...]
    searches: tuple[RecordedSearch, ...]


class RecordError(Exception):
    """Raised for a record that cannot be one of this plan."""


class SearchRecord(Struct, kw_only=True):
    """Evaluations and searches by their questions; `changed` is called after each is added."""

    evaluations: dict[tuple[str, Chosen], RecordedEvaluation] = field(default_factory=dict)
    searches: dict[str, RecordedSearch] = field(default_factory=dict)
    changed: Callable[[], None] | None = None

    @staticmethod
    def of(content: RecordContent) -> SearchRecord:
        """Return the record of what was stored."""
        record = SearchRecord()
        record.add(evaluations=content.evaluations, searches=content.searches)
        return record

    @property
    def content(self) -> RecordContent:
        """What is to be stored."""
        return RecordContent(
            evaluations=tuple(self.evaluations.values()), searches=tuple(self.searches.values())
        )

    def of_space(self, name: str) -> SpaceRecord:
        """Return the part for a design space, by a name that no other space of the plan has."""
        return SpaceRecord(record=self, name=name)

    def add(
        self,
        *,
        evaluations: Sequence[RecordedEvaluation] = (),
        searches: Sequence[RecordedSearch] = (),
    ) -> None:
        """Add what is known."""
        self.evaluations |= {(one.question, one.configuration): one for one in evaluations}
        self.searches |= {one.question: one for one in searches}
        if self.changed is not None:
            self.changed()


class SpaceRecord(Struct, frozen=True, kw_only=True):
    """The part of a record for one design space."""

    record: SearchRecord
    name: str

    def outcome(
        self,
        question: str,
        chosen: Chosen,
        least_cost: float,
        evaluate: Callable[[], DesignOutcome],
    ) -> DesignOutcome:
        """Return the outcome of a configuration, which is evaluated unless it is known."""
        question = f"{self.name}: {question}"
        known = self.record.evaluations.get((question, chosen))
        if known is not None:
            return known.outcome
        outcome = evaluate()
        found = RecordedEvaluation(
            question=question,
            configuration=chosen,
            least_cost=_finite(least_cost),
            outcome=outcome,
        )
        self.record.add(evaluations=[found])
        return outcome

    def search(
        self,
        question: str,
        sizes: tuple[int, ...],
        dimension: Dimension,
        search: Callable[[], CheapestSearch | None],
    ) -> CheapestSearch | None:
        """Return what a search comes to, which is run unless that is known; None as by itself.

        `sizes` are the numbers of options of all axes. RecordError where what is known cannot be
        a configuration of these.
        """
        question = f"{self.name}: {question}"
        known = self.record.searches.get(question)
        if known is not None:
            return _as_search(known, sizes, dimension)
        found = search()
        self.record.add(searches=[_recorded(question, found)])
        return found


def _recorded(question: str, found: CheapestSearch | None) -> RecordedSearch:
    if found is None:
        return RecordedSearch(question=question, is_decided=False)
    return RecordedSearch(
        question=question,
        is_decided=True,
        found=found.found,
        cost=_finite(found.cost),
        is_complete=found.is_complete,
        boxes=found.boxes,
        tried=found.tried,
    )


def _as_search(
    known: RecordedSearch, sizes: tuple[int, ...], dimension: Dimension
) -> CheapestSearch | None:
    if not known.is_decided:
        return None
    if known.found is not None:
        is_one = len(known.found) == len(sizes) and all(
            0 <= option < size for option, size in zip(known.found, sizes, strict=True)
        )
        if not is_one:
            raise RecordError(known.question)
    return CheapestSearch(
        found=known.found,
        cost=_INFINITE if known.cost is None else known.cost,
        is_complete=known.is_complete,
        dimension=dimension,
        boxes=known.boxes,
        tried=known.tried,
    )


_INFINITE = float("inf")


def _finite(cost: float) -> float | None:
    """Return a cost as JSON has it: of nothing that was found, it is infinite."""
    return cost if abs(cost) < _INFINITE else None
