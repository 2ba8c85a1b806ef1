"""The live page says of every number how it is known, as `qps solve` does, whatever is set."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.browser import CHROMIUM, MISSING, Opened
from helpers.reports import html_of
from helpers.specs import checked
from qps.compiler.lower import lower
from qps.reports.known import OTHERS_EXACT, known_lines
from qps.reports.page_rows import first_to_saturate, resource_row
from qps.reports.view import solve_view
from qps.solver.solve import solve

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

OWN = (
    "users N in 1..100\nmachine box { cpu 1 core }\ncomponent job { cpu 1 s/request }\n"
    "topology { node host = box\n node other = box }\n"
    "stream jobs { source LOAD * (1 request/s); at host { job } }\n"
)
UNDERFLOW = OWN.replace("LOAD", "erlang_b(N, 2) / erlang_b(N, 3) / 2")
TURNING = OWN.replace("LOAD", "abs(cos(N))")
TURNING_AND_RISING = OWN.replace("LOAD", "max(abs(cos(N)), N / 50.5)")
BEHIND = TURNING + "stream more { source N / 40 * (1 request/s); at other { job } }\n"


def cells(page: Opened, name: str) -> dict[str, list[str]]:
    """Return the rows of a table of the page, by what stands first in each."""
    rows = page.run(
        """(id) => [...document.querySelectorAll(`#${id} tbody tr`)]
        .map((row) => [...row.cells].map((one) => one.textContent.trim()))""",
        name,
    )
    return {row[0].split(" ")[0]: row[1:] for row in rows}


@pytest.mark.parametrize("text", [UNDERFLOW, TURNING, TURNING_AND_RISING, BEHIND])
def test_a_saturation_that_cannot_be_told_is_told_as_the_solver_does(
    text: str, open_page: Any
) -> None:
    spec = checked(text)
    solution = solve(lower(spec.model, spec.configuration()))
    view = solve_view(spec.model, spec.configuration(), solution)
    undecided = {one.name for one in solution.resources if one.saturation.not_below is not None}
    assert undecided == {"host.cpu"}
    html = html_of(spec)
    page, static = open_page(html), open_page(html, scripts=False)
    assert page.run("() => qps.shown.trouble") is None
    assert page.page.inner_text("#answer") == static.page.inner_text("#answer")
    assert page.page.inner_text("#answer").endswith(first_to_saturate(view))
    rows = cells(page, "resources")
    for resource in solution.resources:
        assert resource_row(view, resource).saturates_at == rows[resource.name][1]
    for resource in view.resources:
        assert (resource.known.kind == "exact") == (resource.name not in undecided)
    known = " ".join(page.page.inner_text("#known").split())
    assert "saturation(host.cpu)" in known
    assert "there is no saturation of host.cpu up to N = " in known
    (*_, told) = known_lines(solution)
    assert told == OTHERS_EXACT


def test_the_search_for_a_saturation_ends_where_queues_are_counted(open_page: Any) -> None:
    spec = checked(OWN.replace("LOAD", "erlang_b(N + 5, 3)"))
    solution = solve(lower(spec.model, spec.configuration()))
    page = open_page(html_of(spec))
    assert solution.resources[0].saturation.at is None
    assert page.run("() => qps.shown.solved.resources[0].at") is None
    assert page.run("() => qps.shown.trouble") is None
