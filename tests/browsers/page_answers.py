"""Compare what a page answers with what `solve` answers."""

from __future__ import annotations

from typing import Any

import pytest

from qps.solver.answers.solution import Solution


def is_close(page: float | str | None, solver: float | None) -> bool:
    """Tell whether two numbers are one; that of a page may be a text, which can be infinite."""
    if page is None or solver is None:
        return page is solver
    return float(page) == pytest.approx(solver, rel=1e-9, abs=1e-12, nan_ok=True)


def differences(answers: dict[str, Any], solution: Solution) -> list[str]:
    """Return where the page says something else than the solver."""
    found = []
    if (answers["largest"], answers["limitedBy"]) != (
        solution.capacity,
        solution.limited_by,
    ):
        found.append(f"largest {answers['largest']} {answers['limitedBy']}")
    for resource in solution.resources:
        if not is_close(answers["saturations"][resource.name], resource.saturation.at):
            found.append(f"{resource.name} {answers['saturations'][resource.name]} {resource}")
        if not is_close(answers["loads"][resource.name], resource.utilization_at_limit):
            found.append(f"load of {resource.name} {answers['loads'][resource.name]}")
    if not is_close(answers["quality"], solution.quality_at_limit):
        found.append(f"quality {answers['quality']}, not {solution.quality_at_limit}")
    found += [
        f"{item.criterion.name} met up to {answers['met']}, not {item.met_up_to}"
        for item in solution.requirements
        if answers["met"][item.criterion.name] != item.met_up_to
    ]
    for page, item in zip(answers["knees"], solution.elastic, strict=True):
        for ours, knee in zip(page, (item.yields, item.exhausted), strict=True):
            if not is_close(ours, None if knee is None else knee.at):
                found.append(f"{item.name} gives way at {ours}, not {knee}")
    return found
