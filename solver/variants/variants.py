"""Which variants of a model a page holds: other choices, other machines, each lowered once.

Numbers and the population are inputs of the page's program; choices and places change the
program itself. A spec has more combinations of them than a page can hold, so the starts (the
spec as it is, each scenario, what the command line requests) come first, then everything that
is one change away from a start, then two changes, until the page is full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, base_configuration
from qps.compiler.lower.certainty_requirements import without_confidence
from qps.solver.variants.exploration import explored
from qps.solver.variants.lowered_combinations import LoweredCombinations
from qps.solver.variants.selects import Select, selects_of, with_no_help
from qps.solver.variants.starting_points import Start, StartingPoint, with_spreads
from qps.solver.variants.variant_graphs import Variant

MOST_VARIANTS = 200


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

    def are_all(self, variants: Iterable[Variant]) -> bool:
        """Return whether every combination is in some variants."""
        covered = sum(
            prod(len(s.choices) for i, s in enumerate(self.selects) if i not in variant.relevant)
            for variant in variants
            if variant.shape == 0
        )
        return covered >= self.combinations


def variants_of(
    model: ir.Model,
    origins: Sequence[StartingPoint],
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
    original, model = model, model.derived(without_confidence)
    lowered = LoweredCombinations(
        model=model, selects=selects_of(model, [origin.configuration for origin in origins])
    )
    docs = {scenario.name: scenario.doc for scenario in model.scenarios}
    tried = [lowered.start(origin, docs.get(origin.name)) for origin in origins]
    lowered.is_starting = False
    if has_spreads:
        tried = [start and with_spreads(start, model, original) for start in tried]
    found = [start for start in tried if start is not None]
    configurations = [start.configuration for start in found]
    near = [start for start in tried[first : first + 1] if start is not None]
    return Variants(
        model=model,
        base=base_configuration(model),
        selects=tuple(with_no_help(one, model, configurations) for one in lowered.selects),
        starts=tuple(found),
        variants=explored(lowered, [*near, *(s for s in found if s not in near)], most, full),
        unanswered=tuple(o.name for o, start in zip(origins, tried, strict=True) if start is None),
    )
