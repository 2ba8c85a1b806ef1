"""How far a value of a spec may be off: beside closed forms, plain draws and its own slopes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import exp, inf, isinf
from pathlib import Path
from random import Random
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.breakdowns import explain
from qps.cli import main
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.all_parameters import with_parameters
from qps.compiler.pipeline import Spec, check_source
from qps.engine.expressions.formulas import Formula
from qps.reports.text.explanations.explanation import Explanation
from qps.reports.text.explanations.explanation_text import explanation_text
from qps.solver.uncertainty.interval_result import ALONE, Ends, Sampling, ValueUncertainty
from qps.solver.uncertainty.value_spreads import spread_of
from simulated.generated import spec_of_kind

SPEC = """
users N in 1..2000
{declared}
machine server {{ cpu 2 core }}
component show {{ cpu {cost} }}
network wire {{ switched; rate 100 Mbit/s; loss {loss} }}
topology {{ node web = server; node away = server; link lan = wire between web, away }}
stream page for each user {{
  traffic 1 request/s, 1 kB/request
  at web {{ show }}
  over lan
  at away {{ }}
}}
"""
MANY = Sampling(samples=20_000)
FEW = Sampling(samples=2000)
LEVEL = NormalDist().inv_cdf(0.95)


def spec_of(declared: str = "", cost: str = "work", loss: str = "0 %") -> Spec:
    text = SPEC.format(declared=declared, cost=cost, loss=loss)
    found = check_source(Source("spec.qps", text))
    assert found.value is not None, found.diagnostics
    return found.value


def explained(spec: Spec, name: str, at: int = 500, sampling: Sampling = FEW) -> Explanation:
    """Return what the command tells of a name, with so many samples."""
    configuration = spec.configuration()
    graph = lower(spec.model, configuration)

    def result(read: Callable[[LoadGraph], Formula]) -> ValueUncertainty | None:
        def read_all(of: LoadGraph, solved: Configuration) -> Formula:
            return read(with_parameters(spec.model, solved, of))

        return spread_of(spec.model, configuration, graph, at, read_all, sampling)

    return explain(with_parameters(spec.model, configuration, graph), name, at, (), result)


def spread(spec: Spec, name: str, at: int = 500, sampling: Sampling = FEW) -> ValueUncertainty:
    found = explained(spec, name, at, sampling).spread
    assert found is not None
    return found


def shares(found: ValueUncertainty) -> dict[str, float]:
    return {one.number: one.first_order for one in found.shares}


# -- closed forms ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "least", "most"),
    [
        ("normal(2 ms/request, 0.2 ms/request)", 2e-3 - 2e-4 * LEVEL, 2e-3 + 2e-4 * LEVEL),
        ("2 ms/request +- 20 %", 2e-3 * (1 - 0.2 / 1.96 * LEVEL), 2e-3 * (1 + 0.2 / 1.96 * LEVEL)),
        ("lognormal(2 ms/request, 0.3)", 2e-3 * exp(-0.3 * LEVEL), 2e-3 * exp(0.3 * LEVEL)),
        ("between 1 and 4 ms/request", 1e-3, 4e-3),
        ("uniform(1 ms/request, 3 ms/request)", 1.1e-3, 2.9e-3),
        ("one of [1 ms/request weight 9, 4 ms/request]", 1e-3, 4e-3),
    ],
)
@pytest.mark.parametrize(
    ("name", "times"), [("work", 1.0), ("web.cpu", 250.0), ("page.latency", 1.0), ("twice", 2.0)]
)
def test_a_value_that_is_straight_in_a_number_lies_where_that_does(
    stated: str, least: float, most: float, name: str, times: float
) -> None:
    own = spec_of(f"param work = {stated}\nparam twice = 2 * work")
    found = spread(own, name, sampling=MANY)
    moved = 0.00008 if name == "page.latency" else 0.0
    assert found.interval.least == pytest.approx(times * least + moved, rel=3e-3)
    assert found.interval.most == pytest.approx(times * most + moved, rel=3e-3)
    assert [one.number for one in found.shares] == ["work"]
    assert found.shares[0].total == pytest.approx(1, abs=0.05)


def test_the_parts_of_a_sum_have_the_shares_of_their_variances() -> None:
    own = spec_of(
        "param a = normal(3 ms/request, 0.3 ms/request)\n"
        "param b = normal(3 ms/request, 0.4 ms/request)\nmeasure sum = a + b",
        cost="a",
    )
    found = spread(own, "sum")
    assert shares(found) == {
        "b": pytest.approx(16 / 25, abs=0.05), "a": pytest.approx(9 / 25, abs=0.05),
    }  # fmt: skip
    assert [one.number for one in found.shares] == ["b", "a"]
    assert set(shares(spread(own, "web.cpu"))) == {"a"}


def test_of_a_product_about_zero_all_variance_is_of_both_together() -> None:
    own = spec_of(
        "param a = normal(0, 1)\nparam b = normal(0, 1)\nmeasure both = a * b", cost="1 ms/request"
    )
    found = spread(own, "both")
    assert max(shares(found).values()) < 0.1
    assert min(one.total for one in found.shares) > 0.8
    text = " ".join(explained(own, "both").uncertainty)
    assert "from interactions" in text


# -- beside plain draws ------------------------------------------------------------------------


@pytest.mark.parametrize("at", [800, 1200, 1500])
def test_a_wait_is_that_of_plain_draws(at: int) -> None:
    """M/M/1, for which two cores are one twice as fast; without end where the load passes 1."""
    own = spec_of("param work = lognormal(1 ms/request, 0.3)\nqueueing cpu mm1")
    found = spread(own, "page.latency", at, MANY)
    drawn = 1e-3 * np.exp(0.3 * np.random.default_rng(7).standard_normal(200_000))
    load = at / 2 * drawn
    wait = np.where(load < 1, drawn / 2 * load / (1 - load), inf)
    time = np.sort(drawn + wait) + 8e-5  # on the wire
    assert found.endless == pytest.approx(float(np.mean(np.isinf(time))), abs=3e-3)
    assert found.interval.least == pytest.approx(float(time[10_000]), rel=0.01)
    assert found.interval.most == pytest.approx(float(time[190_000]), rel=0.05)
    assert isinf(found.interval.most) == (at == 1500)
    assert found.of_ranks


def test_samples_that_cannot_be_are_reported() -> None:
    own = spec_of(
        "param work = normal(2 ms/request, 0.8 ms/request)\nparam part = normal(2 %, 0.9 %)",
        loss="part",
    )
    loads = spread(own, "web.cpu", sampling=MANY)
    (left,) = loads.left_out
    assert left.name == "a service demand must be zero or more"
    assert left.probability == pytest.approx(NormalDist(2, 0.8).cdf(0), abs=1e-3)
    (lost,) = (
        one for one in spread(own, "page.loss", sampling=MANY).left_out if one.name != left.name
    )
    assert lost.probability == pytest.approx(NormalDist(2, 0.9).cdf(0), abs=1e-3)


def test_samples_in_which_something_has_no_value_cannot_be_however_many() -> None:
    """More than are solved each by a load graph of its own."""
    own = spec_of(
        "param slack = normal(1, 0.5)\nparam work = slack ^ 0.5 * 1 ms/request",
    )
    (left,) = spread(own, "web.cpu", sampling=MANY).left_out
    assert left.name == "`work` is a root of a negative number"
    assert left.probability == pytest.approx(NormalDist(1, 0.5).cdf(0), abs=1e-3)


def test_a_condition_on_an_uncertain_number_is_that_of_each_sample() -> None:
    """Half of the samples have twice the work."""
    own = spec_of(
        "param kind = one of [1, 3]\nparam work = uniform(1 ms/request, 2 ms/request)",
        cost="if kind > 2 then 2 * work else work",
    )
    found = spread(own, "web.cpu", sampling=MANY)
    assert found.interval.least == pytest.approx(0.25 * 1.1, rel=2e-3)
    assert found.interval.most == pytest.approx(0.25 * 3.8, rel=2e-3)


@pytest.mark.parametrize("seed", [1, 15, 16, 36])
def test_samples_share_a_form_though_the_first_of_it_cannot_be(seed: int) -> None:
    own = spec_of(
        "param kind = one of [1, 3]\nparam work = normal(2 ms/request, 0.9 ms/request)\n"
        "param part = normal(2 %, 1 %) in 0.03..3.97 %",
        cost="if kind > 2 then 2 * work else work",
        loss="part",
    )
    found = spread(own, "page.loss", sampling=Sampling(samples=200, seed=seed))
    assert ALONE not in [one.name for one in found.left_out]
    assert sum(one.probability for one in found.left_out) < 0.15


# -- what is told -----------------------------------------------------------------------------


def test_where_nothing_is_uncertain_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A spread elsewhere is none here: nothing is solved for it."""
    monkeypatch.setattr("qps.solver.uncertainty.value_spreads._sampled", None)
    sure = spec_of("param work = 1 ms/request")
    other = spec_of("param work = 1 ms/request\nparam part = between 1 % and 2 %", loss="part")
    for spec in (sure, other):
        found = explained(spec, "web.cpu")
        assert found.spread is None
        assert found.uncertainty == ()
        assert "probability" not in explanation_text(found)


def test_slopes_stand_next_to_samples_where_they_differ() -> None:
    straight = explained(spec_of("param work = 2 ms/request +- 5 %"), "web.cpu", sampling=MANY)
    assert straight.spread is not None
    assert straight.spread.linear_interval == Ends(
        least=pytest.approx(straight.spread.interval.least, rel=1e-3),
        most=pytest.approx(straight.spread.interval.most, rel=1e-3),
    )
    assert not any("slopes" in line for line in straight.uncertainty)
    bent = explained(spec_of("param work = between 1 and 6 ms/request"), "web.cpu")
    assert any("A linear approximation gives" in line for line in bent.uncertainty)


def test_the_same_seed_gives_the_same_result_and_another_one_another() -> None:
    own = spec_of("param work = between 1 and 4 ms/request")
    assert spread(own, "web.cpu") == spread(own, "web.cpu")
    assert spread(own, "web.cpu") != spread(own, "web.cpu", sampling=Sampling(samples=2000, seed=7))


def test_what_is_not_there_is_refused_as_ever() -> None:
    with pytest.raises(QpsError, match="cannot explain `nix`"):
        explained(spec_of("param work = between 1 and 4 ms/request"), "nix")


def test_the_command_prints_it_in_words_and_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = SPEC.format(
        declared="param work = between 1 and 4 ms/request\nparam two = 2 * work",
        cost="work",
        loss="0 %",
    )
    Path("a.qps").write_text(text)
    assert main(["explain", "a.qps", "two", "--samples", "1000", "--seed", "3"]) == 0
    output = capsys.readouterr().out
    assert "90 % interval: " in output
    assert "(1,000 samples of 1 uncertain input: work)." in output
    assert "All of the variance comes from work (between 1 and 4 ms/request)." in output
    command = ["explain", "a.qps", "web.cpu", "--format", "json", "--at", "600"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["spread"]["samples"] == 10_000
    assert found["spread"]["interval"]["least"] == pytest.approx(0.3, rel=0.01)
    assert found["spread"]["shares"][0]["number"] == "work"
    assert len(found["uncertainty"]) >= 1
    assert main(["explain", "a.qps", "web.cpu", "--samples", "3"]) == 2


# -- slopes beside samples, over generated specs ------------------------------------------------

CHEAP = ("rows", "periodic", "calls", "speeds", "kept", "uneven", "bursts")
SLIGHT = Sampling(samples=1000)


def with_spreads(text: str, off: float) -> Spec:
    """Return a spec whose costs are all so many per cent off."""
    uncertain = re.sub(r"cpu ([\d.]+ \w*s/\w+) \}", rf"cpu \1 +- {off} % }}", text)
    assert uncertain != text
    spec = check_source(Source("spec.qps", uncertain)).value
    assert spec is not None
    return spec


def agree(found: ValueUncertainty) -> bool:
    """Return whether slopes give the ends of the samples, but for a tenth of what lies between."""
    assert found.linear_interval is not None
    ends, near = found.interval, 0.1 * (found.interval.most - found.interval.least)
    least, most = found.linear_interval.least, found.linear_interval.most
    return abs(least - ends.least) <= near and abs(most - ends.most) <= near


@settings(max_examples=8, deadline=None, derandomize=True)
@given(kind=st.sampled_from(CHEAP), seed=st.integers(0, 99), off=st.sampled_from([0.05, 0.2]))
def test_slopes_and_samples_agree_for_small_spreads_of_generated_specs(
    kind: str, seed: int, off: float
) -> None:
    """Each cost is 0.05 or 0.2 % off: every load and latency moves as its slopes tell."""
    spec = with_spreads(spec_of_kind(kind, Random(seed)), off)
    graph = lower(spec.model, spec.configuration())
    names = (*(f"{stream}.latency" for stream in graph.streams), *graph.resources)
    spreads = [explained(spec, name, graph.high, SLIGHT).spread for name in names]
    values = [found for found in spreads if found is not None]
    assert values
    assert all(map(agree, values))


def test_what_takes_long_is_computed_by_a_surrogate() -> None:
    """Three jobs, calls that they make together: 20 s for 10,000 samples, one by one."""
    spec = with_spreads(spec_of_kind("closed", Random(1)), 0.2)
    found = spread(spec, "s0.latency", 2, Sampling(samples=10_000))
    assert found.surrogate_model is not None
    assert found.surrogate_model.points < 200
    assert found.surrogate_model.error < 1e-3
    assert agree(found)


OFTEN = """users N in 1..1000
network wire { propagation 1 us }
machine server { cpu 8 core, queueing mmc }
param often = one of [0.8, 1.2]
component ask { cpu 1 ms/request }
component answer { cpu 2 ms/request }
topology { node a = server; node b = server; link l = wire between a, b }
stream page for each user {
  traffic 1 request/s, 1 bit/request
  at a { ask; call b * often { answer } }
}
"""


def test_samples_have_the_formulas_of_their_own_numbers() -> None:
    """A call that is made at most once is told by another formula than one that is made again."""
    name = "quantile(page.latency, 95 %)"

    def result(often: str) -> Explanation:
        found = check_source(Source("spec.qps", OFTEN.replace("one of [0.8, 1.2]", often)))
        assert found.value is not None, found.diagnostics
        return explained(found.value, name)

    found = result("one of [0.8, 1.2]").spread
    assert found is not None
    assert found.left_out == ()
    alone = [result(often).value for often in ("0.8", "1.2")]
    assert [found.interval.least, found.interval.most] == pytest.approx(alone)
