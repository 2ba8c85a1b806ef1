"""What differs between two specs, each in a configuration."""

from __future__ import annotations

from msgspec.structs import replace

from qps.compiler.configure.configuration import uncertain_in
from qps.compiler.lower.certainty_asked import without_certainty
from qps.compiler.pipeline import Scenarios, Spec
from qps.reports.text.claim_changes import claim_changes, judged
from qps.reports.text.difference_text import DifferenceView, calling, difference_view
from qps.reports.text.labels import labels_of
from qps.reports.text.view import solve_view
from qps.solver.odds.promising import promising
from qps.solver.odds.told import Sampling
from qps.solver.what_if.assumption_changes import Side
from qps.solver.what_if.difference import Difference, difference


def compared(
    old: Spec,
    new: Spec,
    scenario: Scenarios = None,
    settings: tuple[str, ...] = (),
    *,
    claims: bool = False,
) -> tuple[Difference, DifferenceView]:
    """Return what differs between two specs, each as a scenario and settings change it.

    With `claims`, also which of them fare otherwise, as they are written.
    """
    before, after = (
        Side(one.model, one.configuration(scenario, settings))
        for one in (spec.with_parts_of(settings) for spec in (old, new))
    )
    found = difference(before, after, promising)
    views = [
        solve_view(side.model, side.configuration, solution, settings)
        for side, solution in ((before, found.old), (after, found.new))
    ]
    odds = None
    if uncertain_in(before.configuration) or uncertain_in(after.configuration):
        from qps.solver.odds.differences import difference_odds  # noqa: PLC0415 - needs numpy

        plain = [replace(side, model=without_certainty(side.model)) for side in (before, after)]
        odds = difference_odds(plain[0], plain[1], Sampling())
    view = difference_view(found, views[0], views[1], odds)
    if claims:
        view = replace(view, claims=claim_changes(judged(old), judged(new)))
    return found, calling(view, *(side.model.once(labels_of) for side in (before, after)))
