"""Users behind others, of services that vary: how far off they are by what their labels state."""

from __future__ import annotations

from random import Random

import pytest

from helpers.specs import lowered
from oracles.closed.shadow_servers import Net, Users, compared, simulated, spec_of
from qps.compiler.quantities.certainty import approximation
from qps.compiler.quantities.measured_errors import (
    VARIED_SHADOW_SERVERS,
    ErrorQuantity,
    measured,
    table,
)
from qps.compiler.quantities.methods import METHODS, reason_of

_FIRST = Users(services=(0.02,), rank=1, jobs=5, think=0.3)
_SECOND = Users(services=(0.03,), rank=2, jobs=8, think=0.6)


def _net(cv: float) -> Net:
    return Net(variations=(cv,), classes=(_FIRST, _SECOND))


@pytest.mark.parametrize("cv", [0.5, 1.5, 2, 3])
def test_rates_and_times_are_within_what_is_stated(cv: float) -> None:
    found = list(compared(_net(cv), Random(3), 60_000))
    assert {one.quantity for one in found} >= {"rate", "latency"}
    assert all(one.error is not None for one in found if one.quantity in ("rate", "latency"))
    assert [one for one in found if not one.holds] == []


def test_the_simulation_of_one_class_is_mean_value_analysis() -> None:
    """Five users who think for 0.3 s at a server of 0.02 s, of exponential services."""
    net = Net(variations=(1,), classes=(_FIRST,))
    ((rate, _),) = simulated(net, Random(1), 200_000)
    waiting = 0.0
    for users in range(1, 6):
        exact = users / (0.3 + 0.02 * (1 + waiting))
        waiting = exact * 0.02 * (1 + waiting)
    assert rate == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(
    ("cv", "method"),
    [
        (1, "shadow-server"),
        (0.5, "varied-shadow-server"),
        (2, "varied-shadow-server"),
        (3, "far-varied-shadow-server"),
        (3.5, "unmeasured-shadow-server"),
    ],
)
def test_what_is_stated_goes_by_how_much_services_vary(cv: float, method: str) -> None:
    known = lowered(spec_of(_net(cv))).streams["s1"].latency_certainty
    assert method in known.methods
    assert (known.error is None) is (method == "unmeasured-shadow-server")
    least = METHODS[method].errors.get(ErrorQuantity.LATENCY, 0)
    assert known.error is None or known.error >= least


@pytest.mark.parametrize("method", sorted(VARIED_SHADOW_SERVERS))
def test_other_methods_do_not_make_it_nearer(method: str) -> None:
    """The table alone says 5 % of rates of which little is waited for."""
    known = approximation(
        *map(reason_of, ("unequal-services", "product-form-by-means", method, "visits-in-sequence"))
    )
    rows = table()[ErrorQuantity.RATE].rows_at(known.methods, [{}])
    assert rows
    assert measured(known, ErrorQuantity.RATE).error >= METHODS[method].errors[ErrorQuantity.RATE]
