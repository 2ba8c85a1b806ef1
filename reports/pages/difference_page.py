"""The page of what changed between two specs, and which change moved the answer by how much."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.reports.pages.json_values import Json
from qps.reports.text.changes.change_effects import change_name, changes_table, moving
from qps.reports.text.changes.difference_text import (
    DifferenceView,
    nominal_effects,
    numbers_table,
    remark_of,
)
from qps.reports.text.layout.table import Table
from qps.reports.text.words.phrases import phrase
from qps.solver.what_if.assumption_changes import AssumptionChange


class DifferencePage(Struct, frozen=True, kw_only=True):
    """What stands on the page beside the view; `data` is what its picture is drawn from."""

    view: DifferenceView
    title: str
    before: str
    after: str
    changes: Table
    numbers: Table
    answers: Table
    remark: str
    omission: str
    warnings: tuple[str, ...]
    data: dict[str, Json]


def difference_page(view: DifferenceView) -> DifferencePage:
    """Return the page of a difference."""
    before, after = printable(view.before.file), printable(view.after.file)
    old, new = view.pair.capacities
    ways = _attribution(view)
    return DifferencePage(
        view=view,
        title=f"{before} → {after}" if before != after else phrase("diff.page_title", after=after),
        before=f"{before}{_circumstances(view.before.scenario)}",
        after=f"{after}{_circumstances(view.after.scenario)}",
        changes=changes_table(view.changes),
        numbers=numbers_table(view),
        answers=view.pair.table(),
        remark=" ".join([remark_of(view), *nominal_effects(view)]),
        omission="" if ways or not view.changes else _OMISSION,
        warnings=tuple(
            printable(f"{word}: {warning.message}.")
            for word, side in (("Before", view.before), ("After", view.after))
            for warning in side.warnings
        ),
        data={
            "before": old,
            "after": new,
            "ways": ways,
        },
    )


_OMISSION = phrase("diff.no_chart")


def _circumstances(scenario: str | None) -> str:
    return f", scenario {printable(scenario)}" if scenario else ""


def _attribution(view: DifferenceView) -> list[Json]:
    """Return the ways to share the difference among the changes that add up to it.

    Their effects are with nominal inputs: what uncertainty and model error take from both
    capacities is a step of its own, where it is not the same.
    """
    changes = moving(view.changes)
    shares: list[float | None] = [change.share for change in changes]
    steps: list[float | None] = [change.step for change in changes]
    named = [
        (phrase("diff.chart_shapley"), shares),
        (phrase("diff.chart_cumulative"), steps),
    ]
    return [
        {
            "name": name,
            "steps": [
                {
                    "name": printable(change_name(change)),
                    "change": _describe(change),
                    "users": users,
                }
                for change, users in zip(changes, values, strict=True)
            ]
            + _allowance(view),
        }
        for name, values in named
        if changes and all(users is not None for users in values)
    ]


def _allowance(view: DifferenceView) -> list[Json]:
    """Return the step from the nominal difference to that of what can be relied on."""
    (old, new), (old_nominal, new_nominal) = view.pair.capacities, view.pair.nominal
    users = (new - old) - (new_nominal - old_nominal)
    return [{"name": phrase("diff.allowance"), "change": "", "users": users}] if users else []


def _describe(change: AssumptionChange) -> str:
    if not change.after:
        return ""
    return printable(f"{change.before} → {change.after}")
