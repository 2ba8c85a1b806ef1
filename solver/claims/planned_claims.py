"""Claims of a spec that hold as it stands, and not with what a plan chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.ir.parts import operands_of, parts_of
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.dimension import Dimension
from qps.solver.cheapest.plan_result import BrokenClaim, Plan
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_results import ClaimResult
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.simulated_claims import is_alone

_LOWEST = (ir.MeasureKind.LOWEST_COST, ir.MeasureKind.LOWEST_RUNNING_COST)


def with_broken_claims(
    plan: Plan,
    spec: Spec,
    choices: ir.DesignChoices,
    scenario: Sequence[str] = (),
    settings: Sequence[str] = (),
) -> Plan:
    """Return a plan with the claims that its cheapest configuration breaks.

    Not of those that are simulated or about matrices or about the cheapest configuration itself,
    and of none that cannot be evaluated as the spec stands.
    """
    if plan.cheapest is None or not spec.model.expectations:
        return plan
    chosen = [f"{name} = {label}" for name, label in plan.cheapest.choices]
    spec = spec.with_parts_of([*settings, *chosen])
    stated = spec.configuration(scenario, settings)
    planned = changed(spec.configuration(scenario, [*settings, *chosen]), choices.changes)
    return replace(plan, broken_claims=tuple(_broken(spec.model, stated, planned)))


def _broken(
    model: ir.Model, stated: Configuration, planned: Configuration
) -> Iterator[BrokenClaim]:
    before, after = (
        Claims(ClaimRunner(model=model, configuration=one)) for one in (stated, planned)
    )
    for name, expectation, claim in _plain_claims(model):
        found = _result(after, name, expectation, claim)
        if found is not None and (found.holds or found.missed is not None):
            continue
        now = _result(before, name, expectation, claim)
        if now is not None and now.holds:
            yield BrokenClaim(
                name=name,
                line=claim.span.line,
                text=" ".join(claim.span.text.split()),
                predicted=() if found is None else tuple(_changed_values(found, now)),
            )


def _plain_claims(model: ir.Model) -> Iterator[tuple[str, ir.Expectation, ir.Claim]]:
    """Yield the claims that are neither simulated nor about the cheapest configuration itself."""
    for expectation in model.expectations:
        many = len(expectation.claims) + len(expectation.matrix_claims) > 1
        for index, claim in enumerate(expectation.claims, 1):
            if not is_alone(claim) and not _is_of_lowest_cost(claim):
                yield (
                    f"{expectation.name}[{index}]" if many else expectation.name,
                    expectation,
                    claim,
                )


def _is_of_lowest_cost(claim: ir.Claim) -> bool:
    value = claim.value
    sides = [value.expr] if isinstance(value, ir.Quantity) else operands_of(value)
    parts = (part for side in sides for part in parts_of(side))
    return any(getattr(part, "kind", None) in _LOWEST for part in parts)


def _result(
    claims: Claims, name: str, expectation: ir.Expectation, claim: ir.Claim
) -> ClaimResult | None:
    """Return the result of a claim; None where it cannot be evaluated."""
    try:
        return claims.of_claim(name, expectation, claim)
    except QpsError:
        return None


def _changed_values(found: ClaimResult, before: ClaimResult) -> Iterator[tuple[float, Dimension]]:
    """Yield what is predicted, of a condition the sides that are not as before."""
    if found.predicted is not None:
        yield found.predicted, found.dimension
    for one, as_stated in zip(found.compared, before.compared, strict=False):
        if one.value != as_stated.value:
            yield one.value, one.dimension
