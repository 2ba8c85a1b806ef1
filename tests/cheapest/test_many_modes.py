"""Plans of systems with several modes or failures: the worst mode alone is solved and sampled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

import qps
from cheapest.random_systems import System
from qps.cli import main
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.lower.certainty_requirements import without_certainty
from qps.solver.answers.answer_certainty import answer_known
from qps.solver.answers.worst_mode import solve_model
from qps.solver.cheapest.plan_answer import Planner
from qps.solver.cheapest.search_record import CheapestSearch

TIERS = 9


def _failing() -> str:
    """Return a system of which each tier may lose a machine, with an uncertain demand."""
    nodes = "; ".join(f"node web{at} = vm * 2" for at in range(TIERS))
    visits = "; ".join(f"at web{at} {{ serve }}" for at in range(TIERS))
    axes = "; ".join(f"web{at} in [vm * 2..9]" for at in range(TIERS))
    names = ", ".join(f"web{at}" for at in range(TIERS))
    return f"""
users N in 1..100_000
machine vm {{ cpu 2 core, queueing mmc; price 60 $/month }}
network lan {{ switched; rate 10 Gbit/s; queueing none }}
component serve {{ cpu 1 ms/request +- 20 % }}
topology {{ {nodes}; link net = lan between all }}
stream page for each user {{ traffic 0.1 request/s, 1 kB/request; {visits} }}
survive any one of {names}
require {{ page.latency <= 40 ms }}
choose {{ {axes} }}
"""


@pytest.mark.parametrize(
    "kind", ["modes", "survive", pytest.param("certain_modes", marks=pytest.mark.nightly)]
)
def test_the_worst_mode_alone_is_that_of_the_solution(kind: str) -> None:
    """Its capacity, what limits it and how it is known, of configurations of several sizes."""
    model = qps.loads(System(1, kind, 2).text()).spec.model.derived(without_certainty)
    planner = Planner(model, base_configuration(model), model.choices[0])
    for chosen in ((1, 1), (2, 1), (1, 4), (2, 2)):
        worst = planner.solution(chosen)
        planned = planner.planned(chosen, 1_000)
        solved = solve_model(planner.space.model, planner.space.configured(chosen))
        assert worst.graph.mode == solved.graph.mode
        assert planned.capacity == solved.capacity
        assert planned.limited_by == solved.limited_by
        assert planned.known == answer_known(solved)


def test_what_can_be_relied_on_in_several_modes_is_that_of_the_solution() -> None:
    """Other modes than the worst limit some samples: the demand of one varies more."""
    text = System(1, "modes", 2).text().partition("matrix rows")[0]
    text = text.replace("ms/request }\ncomponent work1", "ms/request +- 5 % }\ncomponent work1")
    text = text.replace("ms/request }\ncomponent pack", "ms/request +- 40 % }\ncomponent pack")
    text = text.replace(
        "mode calm { pace = 0.05 request/s }", "mode calm { pace = 0.11 request/s }"
    )
    model = qps.loads(text)
    found = model.plan(1_000).cheapest
    assert found is not None
    assert found.reliable_capacity is not None
    assert found.reliable_capacity.confidence == 0.95
    solved = model.solve(set=found.choices)
    assert len(solved.modes) == 2
    assert found.reliable_capacity == solved.reliable_capacity


def test_of_many_modes_the_cheapest_alone_is_sampled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nine failures: the front has the capacity of nominal inputs, under that name."""
    found = qps.loads(_failing()).plan(20_000)
    assert found.cheapest is not None
    assert found.cheapest.reliable_capacity is not None
    assert found.runner_up is not None
    assert found.runner_up.reliable_capacity is None
    file = tmp_path / "plan.qps"
    file.write_text(_failing(), encoding="utf-8")
    main(["plan", str(file), "--users", "20000"])
    printed = capsys.readouterr().out
    (heading,) = (line for line in printed.splitlines() if line.split()[:2] == ["Users", "Cost"])
    assert heading.split()[2:4] == ["Capacity", "(nominal)"]
    assert "in 95 % of samples" in printed
    notes = " ".join(printed.split())
    assert "the table has only half the population" in notes
    assert "capacities in the table are those with nominal inputs" in notes
    page = tmp_path / "plan.html"
    main(["plan", str(file), "--users", "20000", "-o", str(page)])
    assert "the table has only half the population" in page.read_text(encoding="utf-8")


def test_a_population_whose_search_is_stopped_is_left_out_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not said to be supported by nothing: text, page and JSON name it."""
    searched = Planner.of_front

    def stopped(planner: Planner, users: int) -> CheapestSearch:
        found = searched(planner, users)
        return replace(found, found=None, is_complete=False) if users == 40_000 else found

    monkeypatch.setattr(Planner, "of_front", stopped)
    file, page = tmp_path / "plan.qps", tmp_path / "plan.html"
    file.write_text(_failing().replace(" +- 20 %", ""), encoding="utf-8")
    main(["plan", str(file), "--users", "20000", "-o", str(page)])
    named = "The table has no row for 40,000 users"
    assert named in " ".join(capsys.readouterr().out.split())
    assert named in page.read_text(encoding="utf-8")
    main(["plan", str(file), "--users", "20000", "--format", "json"])
    view = json.loads(capsys.readouterr().out)
    assert view["omitted_populations"] == [40_000]
    assert [one["users"] for one in view["front"]] == [10_000, 20_000]


def test_with_certain_inputs_many_modes_have_their_reliable_capacity() -> None:
    """Without samples there is nothing to wait for."""
    found = qps.loads(_failing().replace(" +- 20 %", "")).plan(20_000)
    assert found.runner_up is not None
    assert found.runner_up.reliable_capacity is not None
