"""Samples by floats and by surfaces: held against closed forms, single solves, other workers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.number_rows import NumberRows
from qps import worker_processes
from qps.compiler.configure.configuration import with_drawn
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import Spec, check_source
from qps.engine.numerics.sobol import sobol_points
from qps.solver.answers.worst_mode import solve_model
from qps.solver.uncertainty import sample_solver
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.uncertainty.prediction_interval import capacity_uncertainty
from qps.solver.uncertainty.response_surface import first_points, fitted, most_points
from qps.solver.uncertainty.sample_draws import axis_of, uncertain_numbers, values_at
from qps.solver.uncertainty.sample_solver import SampleSolutions, solved_for
from qps.solver.uncertainty.surface_refinement import surface_through
from qps.solver.uncertainty.threshold_search import crossings

TEXTBOOK = Path(__file__).parents[2] / "specs" / "textbook"
NUMBER = "1 s/request"


@pytest.mark.parametrize("near", [1.0, 90.0, 1e5])
@pytest.mark.parametrize("power", [0.5, 1, 3])
def test_what_fails_from_a_point_on_is_found_wherever_it_is_looked_for(
    near: float, power: float
) -> None:
    own = np.array([2.0, 70.0, 99.5, 4000.0])
    found = crossings(
        NumberRows(own),  # type: ignore[arg-type]
        lambda rows, at: (at / rows.own) ** power - 1,  # type: ignore[attr-defined]
        1.0,
        1e5,
        near,
    )
    assert found == pytest.approx(own, rel=5e-5)


def test_what_fails_at_once_or_nowhere_is_reported() -> None:
    found = crossings(
        NumberRows(np.array([0.5, 1e9])),  # type: ignore[arg-type]
        lambda rows, at: np.where(at > rows.own, np.inf, -1.0),  # type: ignore[attr-defined]
        1.0,
        1e5,
        30.0,
    )
    assert found.tolist() == [1.0, np.inf]


def _points(count: int, numbers: int) -> dict[str, np.ndarray]:
    points = 0.5 + sobol_points(count, numbers, 1)
    return {f"x{i}": points[:, i] for i in range(numbers)}


@pytest.mark.parametrize("numbers", [1, 4, 9, 30])
def test_a_product_of_powers_is_met_by_a_surface(numbers: int) -> None:
    def result(values: dict[str, np.ndarray]) -> np.ndarray:
        logs = [(i - 2.5) * np.log(column) for i, column in enumerate(values.values())]
        return np.asarray(7 * np.exp(sum(logs)))

    few, many = _points(most_points(numbers), numbers), _points(500, numbers)
    surface = fitted(few, result(few))
    assert surface.error < 1e-9
    assert surface(many, 500)[0] == pytest.approx(result(many), rel=1e-9)


def test_a_surface_states_its_error_at_a_kink() -> None:
    def result(values: dict[str, np.ndarray]) -> np.ndarray:
        return np.asarray(np.minimum(values["x0"], 1.2 * values["x1"]))

    few, many = _points(most_points(2), 2), _points(2000, 2)
    surface = fitted(few, result(few))
    at, _ = surface(many, 2000)
    off = np.abs(at / result(many) - 1)
    assert np.quantile(off, 0.5) < surface.error < 4 * off.max()


def test_what_fails_nowhere_in_some_samples_fails_nowhere_in_their_neighbors() -> None:
    few, many = _points(24, 1), _points(1000, 1)
    at, _ = fitted(few, np.where(few["x0"] > 1, np.inf, 3.0))(many, 1000)
    is_far = np.abs(many["x0"] - 1) > 0.1
    assert (np.isinf(at) == (many["x0"] > 1))[is_far].all()
    nowhere = fitted(few, np.full(24, np.inf))
    assert np.isinf(nowhere(many, 1000)[0]).all()


def _edge(values: dict[str, np.ndarray]) -> np.ndarray:
    """Return what one thing limits up to a point, and another one beyond it."""
    one, other = 5 * values["x0"] ** 0.1, 5 / values["x0"] * values["x1"] ** 0.2
    return np.asarray(np.minimum(one, other))


@pytest.mark.parametrize("limit", [4.6, 5.1])
def test_points_are_added_where_they_decide(limit: float) -> None:
    """What is told of a limit, and how far that may be off, beside what is told of each sample."""
    pool = _points(1024, 2)
    truth = _edge(pool)
    options: list[int] = []

    def result(which: np.ndarray, _: object) -> np.ndarray:
        options.extend(which.tolist())
        return truth[which]

    surface = surface_through(pool, result, limit, [])
    assert len(options) == len(set(options)) == surface.points <= most_points(2)
    at, off = surface(pool, 1024)
    likely = np.mean(at >= limit)
    least, most = (np.mean(at * np.exp(far * off) >= limit) for far in (-3, 3))
    assert least <= np.mean(truth >= limit) <= most
    assert most - least < 0.1
    assert likely == pytest.approx(np.mean(truth >= limit), abs=0.01)


def test_what_is_the_same_is_fitted_once() -> None:
    pool = _points(500, 3)
    one = surface_through(pool, lambda which, _: _edge(pool)[which], 5.0, [])
    again = surface_through(pool, lambda which, _: _edge(pool)[which] * (1 + 1e-6), 5.0, [one])
    assert again is one
    other = surface_through(pool, lambda which, _: _edge(pool)[which] * 1.01, 5.0, [one])
    assert other is not one


def test_a_surface_goes_on_from_one_of_another_model_with_the_same_points() -> None:
    pool = _points(500, 3)
    requested: list[int] = []

    def result(which: np.ndarray, _: object) -> np.ndarray:
        requested.extend(which.tolist())
        return _edge(pool)[which]

    one = surface_through(pool, result, None, [])
    requested.clear()
    assert surface_through(pool, result, None, [], before=[one]) is one
    assert len(requested) == first_points(3)
    requested.clear()
    nearer = surface_through(pool, result, 5.0, [], before=[one])
    assert nearer.points > one.points
    assert len(requested) == first_points(3) + nearer.points - one.points
    bent = surface_through(
        pool, lambda which, _: _edge(pool)[which] * (1 + pool["x1"][which]), None, [], before=[one]
    )
    assert bent is not one


def _uncertain(name: str, *written: str) -> Spec:
    text = (TEXTBOOK / name).read_text(encoding="utf-8")
    for number in written:
        assert number in text
        text = text.replace(number, f"{number} +- 5 %", 1)
    found = check_source(Source(name, text))
    assert found.value is not None, found.diagnostics
    return found.value


def _solved(spec: Spec, samples: int, workers: int = 1) -> tuple[SampleSolutions, object]:
    configuration = spec.configuration()
    numbers = uncertain_numbers(spec.model, configuration)
    axis = axis_of(numbers, values_at(numbers, sobol_points(samples, len(numbers), 1)), spec.model)
    solution = solve_model(spec.model, configuration)
    return solved_for(spec.model, configuration, axis, solution, workers), axis


def test_what_is_computed_by_a_surrogate_is_near_to_what_each_sample_has_alone() -> None:
    spec = _uncertain("lqns/chandy_neuse.qps", NUMBER)
    found, axis = _solved(spec, 2000)
    (surface, *_) = found.surfaces
    assert surface.error < 0.02
    for row in (50, 100, 700, 1999):
        drawn = with_drawn(spec.configuration(), axis.drawn(row))  # type: ignore[attr-defined]
        alone = solve_model(spec.model, drawn).capacity
        assert alone is not None
        assert found.largest[row] == pytest.approx(alone, abs=1 + surface.error * alone)


def test_any_number_of_workers_gives_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_solver, "_PART", 300)
    monkeypatch.setattr(worker_processes, "START", "spawn")  # as elsewhere than on Linux
    spec = _uncertain("lqns/chandy_neuse.qps", NUMBER)
    (one, _), (two, _) = _solved(spec, 1000), _solved(spec, 1000, workers=2)
    assert (one.largest == two.largest).all()
    assert (one.limits == two.limits).all()
    assert one.words == two.words
    assert one.surfaces == two.surfaces
    assert one.outcomes.keys() == two.outcomes.keys()
    assert all((one.outcomes[name] == two.outcomes[name]).all() for name in one.outcomes)


def test_quick_models_are_solved_for_every_sample_without_a_surrogate() -> None:
    spec = _uncertain("courses/wikipedia_md1.qps", "2 minute/guest")
    configuration = spec.configuration()
    solution = solve_model(spec.model, configuration)
    found = capacity_uncertainty(spec.model, configuration, solution, Sampling(samples=500))
    assert found is not None
    assert found.surrogate_models == ()


FIXED_JOBS = """users N in 1..2
network wire { propagation 1 us }
machine server { cpu 4 core, queueing ps }
component one { cpu 0.3 s/request +- 4 % }
component other { cpu 0.2 s/request }
topology { node a = server; node b = server; node c = server; link l = wire between a, b, c }
stream asked in all {
  traffic 6 request, 1 bit/request, think 0.3 s
  at a { together { call b { one }; call c { other } } }
}
require { asked.latency <= 410 ms }
"""


def test_what_takes_long_and_has_no_population_in_it_is_computed_by_a_surrogate() -> None:
    """As many jobs as ever, and calls that they make together: in each sample all or none fails."""
    spec = check_source(Source("fixed.qps", FIXED_JOBS)).value
    assert spec is not None
    found, axis = _solved(spec, 2000)
    assert "asked.latency" in [one.requirement for one in found.surfaces]
    is_met, surely, maybe = found.outcomes["asked.latency"]
    assert is_met.mean() == pytest.approx(0.5, abs=0.4)
    assert maybe.mean() - surely.mean() < 0.05
    for row in range(0, 200, 10):
        drawn = with_drawn(spec.configuration(), axis.drawn(row))  # type: ignore[attr-defined]
        alone = solve_model(spec.model, drawn).capacity
        assert surely[row] <= (alone == 2) <= maybe[row]
        assert found.largest[row] == (2 if is_met[row] else 0)


def test_probabilities_by_a_surface_are_those_of_single_solves() -> None:
    """Of users who wait in a network: samples solved each alone, at the answer as stated."""
    spec = _uncertain("lqns/chandy_neuse.qps", NUMBER)
    solution = solve_model(spec.model, spec.configuration())
    assert solution.capacity is not None
    found, axis = _solved(spec, 2000)
    is_met, surely, maybe = found.outcomes["query.latency"]
    assert is_met.mean() == pytest.approx(0.5, abs=0.4)
    for row in range(0, 400, 20):
        drawn = with_drawn(spec.configuration(), axis.drawn(row))  # type: ignore[attr-defined]
        alone = solve_model(spec.model, drawn).capacity
        assert alone is not None
        is_met_alone = alone >= solution.capacity
        assert surely[row] <= is_met_alone <= maybe[row]
    answer = capacity_uncertainty(
        spec.model, spec.configuration(), solution, Sampling(samples=2000)
    )
    assert answer is not None
    (one,) = [one for one in answer.requirements if one.name == "query.latency"]
    assert one.probability == is_met.mean()
    assert one.error == max(maybe.mean() - one.probability, one.probability - surely.mean())
    assert one.error < 0.05


def test_values_are_looked_for_where_those_of_a_surface_before_moved_to() -> None:
    pool = _points(256, 2)
    one = surface_through(pool, lambda which, _: _edge(pool)[which], None, [])
    seen: list[float] = []

    def moved(which: np.ndarray, about: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
        found = np.asarray(_edge(pool)[which] * 3)
        assert about is not None
        seen.extend((about[0] / found).tolist())
        return found

    surface_through(pool, moved, None, [], before=[one])
    firsts = seen[: first_points(2)]
    assert firsts == pytest.approx([1 / 3, *[1.0] * (len(firsts) - 1)])
