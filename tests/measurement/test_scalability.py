"""Stations fitted to closed load tests: the law, the fit, and what is uncertain of it."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.optimize import least_squares

from helpers.measured.closed_load_tests import (
    SDM91,
    predicted,
    table_of,
)
from qps.compiler.measurement.scalability import closed_loop, scalability_fit
from qps.compiler.measurement.scalability.closed_loop import (
    NUMBERS,
    ClosedLoops,
    log_throughput,
)
from qps.compiler.measurement.scalability.levenberg_marquardt import least_point
from qps.compiler.measurement.scalability.misfit_causes import misfit_causes
from qps.compiler.measurement.scalability.model_uncertainty import (
    choice_covariance,
    choice_weights,
)
from qps.compiler.measurement.scalability.scalability_fit import station_fit, unseen_errors
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw
from qps.compiler.measurement.scalability.station_fit import StationFit
from qps.compiler.measurement.scalability.throughput_peak import peak_of


def by_balance(law: ScalabilityLaw, clients: int) -> Fraction:
    """Return the throughput of a birth-death chain of how many are at the station, in fractions."""
    weights = [Fraction(1)]
    for present in range(1, clients + 1):
        arrivals = (clients - present + 1) / Fraction(law.delay)
        weights.append(
            weights[-1] * arrivals / (Fraction(law.speed(present)) / Fraction(law.demand))
        )
    rates = [
        Fraction(0),
        *(Fraction(law.speed(j)) / Fraction(law.demand) for j in range(1, clients + 1)),
    ]
    return sum(w * r for w, r in zip(weights, rates, strict=True)) / sum(weights)


LAWS = st.builds(
    ScalabilityLaw,
    demand=st.floats(1e-4, 1.0),
    delay=st.floats(1e-3, 10.0),
    contention=st.floats(0.0, 1.0),
    coherency=st.floats(0.0, 0.1),
    parallel=st.none() | st.floats(1.0, 32.0),
)


@given(LAWS, st.integers(1, 40))
@settings(deadline=None)
def test_the_throughput_is_that_of_the_chain_of_its_states(
    law: ScalabilityLaw, clients: int
) -> None:
    found = predicted(law, [clients])[clients]
    assert found == pytest.approx(float(by_balance(law, clients)), rel=1e-9)


@pytest.mark.parametrize(
    "law",
    [
        ScalabilityLaw(demand=1e-3, parallel=8.0),
        ScalabilityLaw(demand=1e-3, delay=9e-3, parallel=4.0),
        ScalabilityLaw(demand=1e-3, contention=0.05, coherency=1e-3),
        ScalabilityLaw(demand=1e-3, contention=0.02, coherency=5e-4, parallel=16.0),
        ScalabilityLaw(demand=2e-3, delay=1e-3, contention=0.1),
    ],
    ids=["cores", "cores and delay", "published law", "collapse", "lock and delay"],
)
def test_a_law_is_found_again_in_what_it_predicts(law: ScalabilityLaw) -> None:
    clients = [1, 2, 4, 8, 12, 16, 24, 32, 64, 128]
    found = station_fit(table_of(predicted(law, clients)))
    between = [3, 6, 20, 48, 96]
    fitted, true = predicted(found.law, between), predicted(law, between)
    assert all(fitted[n] == pytest.approx(true[n], rel=0.02) for n in between)
    assert max(map(abs, found.errors)) < 0.02
    assert found.noise < 0.01  # what is exact in each row is not expected to be noisy


def test_the_published_law_is_near_its_published_numbers() -> None:
    found = station_fit(table_of(SDM91))
    law = ScalabilityLaw(demand=1 / 64.9, contention=0.0277, coherency=1.04e-4)
    published = predicted(law, list(SDM91))
    worst = max(abs(published[n] / measured - 1) for n, measured in SDM91.items())
    assert worst > 0.1  # as published, missed by this much at 36 users
    assert max(map(abs, found.errors)) < 0.02  # a limit of parallel service fits it


def test_a_fit_without_a_row_predicts_it() -> None:
    unseen = unseen_errors(station_fit(table_of(SDM91)))
    assert unseen is not None
    assert max(map(abs, unseen)) < 0.15
    assert unseen_errors(station_fit(table_of({1: 10.0, 2: 19.0}))) is None


@pytest.mark.parametrize("start", [(0.1, 0.1), (3.0, 0.5), (0.5, 3.0)])
def test_least_squares_within_bounds_are_those_of_scipy(start: tuple[float, float]) -> None:
    """Of a curve whose second number lies on a bound."""
    at = np.linspace(0.1, 4, 30)
    measured = 2 * np.exp(-0.7 * at) + 0.05 * np.sin(7 * at)
    low, high = np.array([0.0, 0.0]), np.array([5.0, 0.6])

    def errors(point: np.ndarray) -> np.ndarray:
        return point[0] * np.exp(-point[1] * at) - measured

    def slopes(point: np.ndarray) -> np.ndarray:
        curve = np.exp(-point[1] * at)
        return np.stack([curve, -point[0] * at * curve], axis=1)

    own = least_point(lambda p: (errors(p), slopes(p)), np.array(start), low, high, 1e-9)
    other = least_squares(errors, np.clip(start, low, high), slopes, (low, high))
    assert own.point == pytest.approx(other.x, rel=1e-3)
    assert own.squares == pytest.approx(2 * other.cost, rel=1e-4)


@given(LAWS, st.sampled_from([0.0, 0.2]))
@settings(deadline=None)
def test_slopes_are_those_of_the_throughput(law: ScalabilityLaw, bonus: float) -> None:
    law = replace(law, bonus=bonus if law.parallel else 0.0)
    loops = ClosedLoops(np.array([1, 2, 5, 17, 33]))
    slopes = loops.throughputs(law)[1]
    for at, name in enumerate(NUMBERS):
        value = getattr(law, name)
        is_kink = name == "parallel" and value and abs(2 * value - round(2 * value)) < 1e-3
        if value and not is_kink:
            up, down = (
                loops.throughputs(replace(law, **{name: value * exp(h)}))[0] for h in (1e-6, -1e-6)
            )
            assert slopes[:, at] == pytest.approx((up - down) / 2e-6, abs=1e-5)


@pytest.mark.parametrize("clients", [[1500], [30, 1200, 6000]])
def test_of_many_clients_only_those_that_may_be_there_are_summed(
    clients: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    law = ScalabilityLaw(demand=1e-3, delay=0.5, contention=2e-3, coherency=1e-6, parallel=40.0)
    found, slopes = ClosedLoops(np.array(clients)).throughputs(law)
    monkeypatch.setattr(closed_loop, "_MOST_POINTS", 10**6)
    every, of_every = ClosedLoops(np.array(clients)).throughputs(law)
    assert found == pytest.approx(every, abs=1e-9)
    assert slopes == pytest.approx(of_every, abs=1e-9)


def test_a_table_of_thousands_of_clients_is_fitted() -> None:
    law = ScalabilityLaw(demand=2e-4, delay=0.05, contention=1e-3)
    clients = [1, 100, 1000, 3000, 6144]
    found = station_fit(table_of(predicted(law, clients)))
    assert predicted(found.law, [2000])[2000] == pytest.approx(
        predicted(law, [2000])[2000], rel=0.1
    )
    assert peak_of(found).clients > 3000


@pytest.mark.parametrize(
    ("throughputs", "cause"),
    [
        ({1: 100, 2: 90, 4: 500, 8: 1100, 16: 1200}, "superlinear"),
        ({10: 7400, 50: 12600, 100: 12200, 150: 12210}, "only_unsaturated"),
        ({100: 186, 200: 187, 300: 245, 400: 264, 500: 208}, "unlike_neighbors"),
        ({1: 32, 2: 55, 4: 90.3, 8: 100, 16: 104, 32: 105}, "knee"),
        ({1: 10, 2: 19.5, 4: 37, 8: 66, 64: 30}, "only_saturated"),
        (
            {900 * i: 779 + 9.5 * i for i in range(1, 14)},
            "other_shape",
        ),
    ],
)
def test_what_only_one_row_shows_is_named(throughputs: dict[int, float], cause: str) -> None:
    found = station_fit(table_of(throughputs))
    causes = [one.cause for one in misfit_causes(found, unseen_errors(found))]
    assert cause in causes


def test_nothing_is_named_where_each_row_is_as_the_others_say() -> None:
    law = ScalabilityLaw(demand=1e-3, contention=0.05)
    found = station_fit(table_of(predicted(law, [1, 2, 3, 4, 6, 8, 12, 16, 24, 32])))
    assert not list(misfit_causes(found, unseen_errors(found)))


def width_at(found: StationFit, clients: int) -> float:
    """Return by how much the logarithm of a throughput may be off: a standard deviation."""

    def logged(**moved: float) -> float:
        law = {name: getattr(found.law, name) for name in found.law.__struct_fields__}
        return float(log_throughput(ScalabilityLaw(**{**law, **moved}), np.array([clients]))[0])

    slopes = []
    for name in found.numbers:
        step = 0.1 * float(np.linalg.norm(found.weights_of(name)))
        own = logged(**{name: found.value_of(name) + step})
        slopes.append((own - logged()) / step if step else 0.0)
    return float(np.linalg.norm(np.array(found.weights).T @ slopes))


def test_what_other_numbers_say_below_the_table_is_in_its_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Contention and a limit fit all of these rows, and differ at the clients before them."""
    table = table_of({50: 588.0, 100: 883.0, 200: 953.0, 500: 1031.0, 1000: 939.0})
    found = station_fit(table)
    monkeypatch.setattr(scalability_fit, "choice_covariance", lambda *_: 0.0)
    alone = station_fit(table)
    assert found.numbers == alone.numbers
    assert width_at(found, 10) > 1.3 * width_at(alone, 10)
    assert width_at(found, 200) < 1.3 * width_at(alone, 200)  # which all of them show


def test_choices_that_agree_widen_nothing() -> None:
    slopes, precision = np.ones((4, 1)), np.zeros((1, 1))
    alike = choice_covariance(slopes, np.zeros((2, 4)), choice_weights([1.0, 1.0]), precision)
    apart = choice_covariance(
        slopes, np.array([[0.0] * 4, [2.0] * 4]), choice_weights([1.0, 1.0]), precision
    )
    assert alike.tolist() == [[0.0]]
    assert apart[0, 0] == pytest.approx(2.0)  # half of two squared
