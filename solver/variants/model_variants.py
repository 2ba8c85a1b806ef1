"""The models of several configurations side by side, each once, with its variants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, base_configuration, changed
from qps.solver.answer import Answer
from qps.solver.variants.starting_points import StartingPoint
from qps.solver.variants.variants import MOST_VARIANTS, Variants, variants_of


class ShownCase(Struct, frozen=True):
    """A configuration that a page shows as a column: a model as a scenario and settings have it."""

    model: ir.Model
    configuration: Configuration
    settings: tuple[str, ...] = ()
    answer: Answer | None = None

    @property
    def name(self) -> str:
        """What the configuration is called beside others of its model."""
        scenario = self.configuration.scenario
        return ", ".join([*([scenario] if scenario else []), *self.settings])


class ModelVariants(Struct, frozen=True, kw_only=True):
    """A model with its variants, and the cases of it; each stands at the start of its name."""

    model: ir.Model
    variants: Variants
    cases: tuple[ShownCase, ...]


def model_variants(
    cases: Sequence[ShownCase], most: int = MOST_VARIANTS, *, has_spreads: bool = True
) -> tuple[ModelVariants, ...]:
    """Return the models of some cases, with as many variants together at most.

    Unless it `has_spreads` every number is taken for known.
    """
    models = list({id(case.model): case.model for case in cases}.values())
    share = max(1, most // max(1, len(models)))
    return tuple(_variants(model, cases, share, has_spreads=has_spreads) for model in models)


def _variants(
    model: ir.Model, cases: Sequence[ShownCase], most: int, *, has_spreads: bool
) -> ModelVariants:
    own = tuple(case for case in cases if case.model is model)
    origins = tuple(_origins(model, own))
    first = [origin.name for origin in origins].index(own[0].name)
    full = _first_to_saturate(own[0].answer)
    variants = variants_of(model, origins, first, most, full, has_spreads=has_spreads)
    return ModelVariants(model=model, variants=variants, cases=own)


def _first_to_saturate(answer: Answer | None) -> tuple[str, ...]:
    """Return the resources that saturate first, all at the same population."""
    resources = () if answer is None else answer.resources
    at = {one.name: one.saturation.at for one in resources}
    known = {name: where for name, where in at.items() if where is not None}
    first = min(known.values(), default=0.0)
    return tuple(name for name, where in known.items() if isclose(where, first))


def _origins(model: ir.Model, cases: Sequence[ShownCase]) -> Iterator[StartingPoint]:
    """Yield the spec as it is, its scenarios, and what `--set` made of them."""
    base = base_configuration(model)
    yield StartingPoint("", base)
    for one in model.scenarios:
        yield StartingPoint(
            one.name, changed(base, [ir.SetScenario(one.name, one.changes, one.span)])
        )
    yield from (
        StartingPoint(case.name, case.configuration, case.settings)
        for case in cases
        if case.settings
    )
