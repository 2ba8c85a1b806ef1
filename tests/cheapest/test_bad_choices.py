"""Choices of which nothing can be planned: each says why, and what to do."""

from __future__ import annotations

import pytest

import qps

SPEC = """
users N in 1..100_000
machine vm { cpu 2 core, queueing mmc; price 60 $/month }
component serve { cpu 8 ms/request }
param places = 5 in 1..50
topology { node web = vm * 2 }
stream page for each user { traffic 0.1 request/s; at web { serve } }
require { page.latency <= 30 ms }
"""


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ("choose { web in [vm * 1..4]; exclude web == vm }", "all combinations are excluded"),
        (
            "choose { web in [vm * 1..4]; exclude count(web) < 3; exclude count(web) >= 3 }",
            "all combinations are excluded",
        ),
        (
            "choose { web in [vm * 1..4]; minimize 1 $ / (count(web) - 2) }",
            "no value with web vm \\* 2",
        ),
        (
            "choose { web in [vm * 1..4]; places in 1..9 by 1e-12 }",
            "`places` has 8,000,000,000,001 values to choose from",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(choices: str, message: str) -> None:
    """Not answered with no configuration or with no cost, and not searched without an end."""
    model = qps.loads(SPEC + choices)
    with pytest.raises(qps.QpsError, match=message):
        model.plan(300)


def test_conditions_that_leave_something_are_no_error() -> None:
    """One that supports too few users is no excluded one."""
    model = qps.loads(SPEC + "choose { web in [vm * 1..4]; exclude count(web) < 4 }")
    assert model.plan(90_000).cheapest is None
    found = model.plan(300).cheapest
    assert found is not None
    assert found.choices == {"web": "vm * 4"}
