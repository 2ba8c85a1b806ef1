"""Waiting times, numbers of those who wait, and shares of items by a time, against closed forms."""

from __future__ import annotations

import json
from itertools import chain
from math import exp, factorial, log

import pytest
from flint import arb

import qps
from browsers.node import needs_node, run_module
from helpers.specs import checked, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.distributions.sum_numbers import stages_quantile
from qps.engine.distributions.sum_tail_arrays import stages_tail as on_arrays
from qps.engine.distributions.sum_tails import stages_tail
from qps.engine.operations import OPERATIONS
from qps.engine.queueing.md1_numbers import md1_tail
from qps.simulation.agreement import compared, quantile_levels
from qps.simulation.model_builder import simulated_model
from qps.simulation.replications import Effort, simulate
from qps.simulation.simulated_waits import waiting_measures

SPEC = """
users N in 50..50
network net {{ rate 1 Gbit/s }}
machine server {{ cpu {cores} core, queueing {queueing} }}
machine disk {{ io 1 core, queueing mm1 }}
component work {{ cpu 10 ms/request }}
component read {{ io 5 ms/request }}
topology {{ node web = server; node db = disk; link lan = net between web, db }}
stream page for each user {{ traffic {traffic}, 1 byte/request; at web {{ {steps} }} }}
measure asked = {queried}
"""


def _measured(
    requested: str,
    queueing: str = "mm1",
    cores: int = 1,
    rate: float = 1.5,
    traffic: str | None = None,
    steps: str = "work",
) -> tuple[float, CertaintyKind, list[str]]:
    """Return a measure with 50 users, and how it is known, by which theorems."""
    text = SPEC.format(
        queried=requested,
        queueing=queueing,
        cores=cores,
        traffic=traffic or f"{rate} request/s",
        steps=steps,
    )
    graph = lowered(text)
    one = graph.measures["asked"]
    theorems = [theorem.method for theorem in one.known.theorems]
    return graph.at(50).number(one.value), one.known.kind, theorems


def _erlang_c(servers: int, traffic: float) -> float:
    last = traffic**servers / factorial(servers) * servers / (servers - traffic)
    return last / (sum(traffic**k / factorial(k) for k in range(servers)) + last)


STATIONS = (("mm1", 1, 1.5), ("mmc", 1, 1.5), ("mmc", 4, 6.0), ("mmc", 12, 20.0))


@pytest.mark.parametrize(("queueing", "cores", "rate"), STATIONS)
def test_waits_of_exponential_service_are_those_of_erlang(
    queueing: str, cores: int, rate: float
) -> None:
    arrivals, served = 50 * rate, 100.0
    late = _erlang_c(cores, arrivals / served)
    spare = cores * served - arrivals
    closed = {
        "page.wait": late / spare,
        "web.cpu.wait": late / spare,
        "page.queue": late / spare * arrivals,
        "web.cpu.queue": late / spare * arrivals,
        "page.wait.p95": max(0.0, log(late / 0.05) / spare),
        "web.cpu.wait.p99_9": max(0.0, log(late / 0.001) / spare),
        "share(page.wait > 0 s)": late,
        "share(page.wait > 20 ms)": late * exp(-spare * 0.02),
        "share(web.cpu.wait <= 20 ms)": 1 - late * exp(-spare * 0.02),
    }
    for options, expected in closed.items():
        found, kind, theorems = _measured(options, queueing, cores, rate)
        assert found == pytest.approx(expected, rel=1e-9), options
        assert kind is CertaintyKind.EXACT, options
        is_of_mean = not ("share" in options or ".p9" in options)
        by_mean = "pollaczek-khinchine" if queueing == "mm1" else "erlang-c"
        assert (by_mean if is_of_mean else "erlang-c") in theorems, options


def test_an_overloaded_station_is_waited_for_without_end() -> None:
    for queueing, cores in (("mm1", 1), ("mmc", 2), ("md1", 1)):
        rate = 2.5 * cores
        assert _measured("page.wait", queueing, cores, rate)[0] == float("inf")
        assert _measured("page.wait.p95", queueing, cores, rate)[0] == float("inf")
        assert _measured("share(page.wait > 1 minute)", queueing, cores, rate)[0] == 1
        assert _measured("share(page.latency <= 1 minute)", queueing, cores, rate)[0] == 0


@pytest.mark.parametrize("requested", ["page.wait", "web.cpu.wait"])
def test_fixed_service_waits_half_as_long(requested: str) -> None:
    assert _measured(requested, "md1")[:2] == (pytest.approx(0.015), CertaintyKind.EXACT)


@pytest.mark.parametrize("subject", ["page", "web.cpu"])
def test_the_law_of_the_wait_of_fixed_service_is_exact(subject: str) -> None:
    for wait in (0.0, 0.005, 0.02, 0.13):
        found = _measured(f"share({subject}.wait > {wait} s)", "md1")
        assert found[:2] == (
            pytest.approx(md1_tail(0.75, wait / 0.01), rel=1e-9),
            CertaintyKind.EXACT,
        )
        assert "m-d-1-wait" in found[2]
    later = _measured(f"{subject}.wait.p95", "md1")[0]
    assert md1_tail(0.75, later / 0.01) == pytest.approx(0.05, rel=1e-6)


def test_latencies_beyond_a_time_are_those_of_one_queue() -> None:
    found, kind, theorems = _measured("share(page.latency > 50 ms)")
    assert (found, kind) == (pytest.approx(exp(-25 * 0.05), rel=1e-7), CertaintyKind.EXACT)
    assert "m-m-1-sojourn" in theorems
    fixed = _measured("share(page.latency > 50 ms)", "md1")
    assert fixed[:2] == (pytest.approx(md1_tail(0.75, 4), rel=1e-9), CertaintyKind.EXACT)
    assert _measured("share(page.latency > 9 ms)", "md1")[0] == 1


@pytest.mark.parametrize("queueing", ["mm1", "md1", "mg1 cv 2", "mgc cv 2", "mdc", "ps"])
def test_a_percentile_and_the_share_beyond_it_agree(queueing: str) -> None:
    percentile = _measured("page.p95", queueing)[0]
    share = _measured(f"share(page.latency > {percentile:.15g} s)", queueing)[0]
    assert share == pytest.approx(0.05, rel=1e-6)


def test_waits_at_several_stations_add_up_as_the_law_of_a_sum() -> None:
    """Web with rate 25 to spare, disk called twice with 50 left: both wait by a chance of 3/4."""
    steps = "work; call db { read }"
    mean = _measured("page.wait", steps=steps)[0]
    assert mean == pytest.approx(0.75 / 25 + 0.375 / 125)
    number = _measured("page.queue", steps=steps)[0]
    assert number == pytest.approx(75 * mean)
    time = 0.03
    web, disk = 0.25 + 0.0, 0.625  # atoms: who does not wait
    # P(W1 + W2 > t) of two waits, each 0 by an atom and else exponential.
    first, second = 25.0, 125.0
    both = (first * exp(-second * time) - second * exp(-first * time)) / (first - second)
    late = (1 - web) * disk * exp(-first * time) + web * (1 - disk) * exp(-second * time)
    late += (1 - web) * (1 - disk) * both
    share = _measured(f"share(page.wait > {time} s)", steps=steps)[0]
    assert share == pytest.approx(late, rel=1e-6)


@pytest.mark.parametrize("rate", [0.4, 1.0, 1.8])
def test_who_shares_a_server_at_all_is_known_exactly(rate: float) -> None:
    """Nobody is there with 1 - rho, and nobody comes before the end with 1/(1 + rho)."""
    load = rate / 2
    found, kind, _ = _measured("share(web.cpu.wait > 0 s)", "ps", rate=rate)
    assert found == pytest.approx(2 * load / (1 + load), rel=1e-9)
    assert kind is CertaintyKind.APPROXIMATION


SHARED = {  # simulated without QPS: p80, p95, p99 of what services take longer, in s
    (1, 1.4): (0.0347, 0.0975, 0.1993),
    (2, 3.2): (0.0260, 0.0759, 0.1591),
}


@pytest.mark.parametrize(("cores", "rate"), SHARED)
def test_waits_for_those_who_share_are_near_simulated_ones(cores: int, rate: float) -> None:
    for level, played in zip((80, 95, 99), SHARED[cores, rate], strict=True):
        found, _, _ = _measured(f"web.cpu.wait.p{level}", "ps", cores, rate)
        assert found == pytest.approx(played, rel=0.17)
        assert _measured(f"page.wait.p{level}", "ps", cores, rate)[0] == pytest.approx(found)


RANKS = """
users N in 50..50
machine server {{ cpu 1 core, queueing priority }}
component work {{ cpu 10 ms/request }}
topology {{ node web = server }}
stream first in all {{ traffic 42.5 request/s, 1 byte/request; priority 1; at web {{ work }} }}
stream last in all {{ traffic 42.5 request/s, 1 byte/request; priority 2; at web {{ work }} }}
measure asked = {queried}
"""


def test_waits_of_ranks_are_near_simulated_ones() -> None:
    """Simulated: p95 49.3, 347 and 257 ms (0.5 to 2 %)."""

    def result(options: str) -> float:
        graph = lowered(RANKS.format(queried=options))
        return graph.at(50).number(graph.measures["asked"].value)

    assert result("first.wait.p95") == pytest.approx(49.3e-3, rel=0.02)
    assert result("last.wait.p95") == pytest.approx(347e-3, rel=0.03)
    of_all = result("web.cpu.wait.p95")
    assert of_all == pytest.approx(257e-3, rel=0.02)
    assert result(f"share(web.cpu.wait > {of_all} s)") == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.99])
def test_waits_in_a_room_are_a_mix_of_erlang_laws(level: float) -> None:
    """Who gets in finds n others with the chance of rho^n, and waits for n services."""
    room, load = 5, 0.8
    found, kind, _ = _measured(f"web.cpu.wait.p{100 * level:.0f}", "mm1 room 5", rate=1.6)
    chances = [load**n for n in range(room)]
    services = found / 0.01
    late = sum(
        chance * exp(-services) * sum(services**k / factorial(k) for k in range(n))
        for n, chance in enumerate(chances)
    )
    assert late / sum(chances) == pytest.approx(1 - level, rel=1e-6)
    assert kind is CertaintyKind.EXACT


def test_users_who_think_wait_as_the_machine_repair_model_says() -> None:
    customers, think, service = 50, 1.0, 0.01
    weights = [
        factorial(customers) / factorial(customers - n) * (service / think) ** n
        for n in range(customers + 1)
    ]
    total = sum(weights)
    queue = sum((n - 1) * weight for n, weight in enumerate(weights) if n) / total
    found, kind, _ = _measured("web.cpu.queue", traffic="1 request, think 1 s")
    assert (found, kind) == (pytest.approx(queue, rel=1e-9), CertaintyKind.EXACT)
    rate = (1 - weights[0] / total) / service
    wait = _measured("page.wait", traffic="1 request, think 1 s")[0]
    assert wait == pytest.approx(queue / rate, rel=1e-9)


@pytest.mark.parametrize(
    ("requested", "queueing", "words"),
    [
        ("page.wait.p95", "ps speeds [1, 2]", "only the mean waiting time at `web.cpu`"),
        ("share(web.cpu.wait > 1 s)", "mm1 room 5", "the share of visits of `web.cpu` that wait"),
        ("web.cpu.wait", "none", "no waiting time is modeled at `web.cpu`"),
        ("share(page.wait > 1 s)", "ps speeds [1, 2]", "only the mean waiting time at `web.cpu`"),
    ],
)
def test_what_has_no_law_is_refused_with_its_place(
    requested: str, queueing: str, words: str
) -> None:
    with pytest.raises(QpsError) as refused:
        _measured(requested, queueing)
    (one,) = refused.value.diagnostics
    assert words in one.message
    assert one.primary is not None
    assert one.primary.span.text == requested
    assert one.hints


def test_waits_of_parallel_calls_are_those_of_stations() -> None:
    steps = "work; together { call db { read }; call db { read } }"
    with pytest.raises(QpsError, match="parallel calls"):
        _measured("page.wait", steps=steps)
    assert _measured("db.io.wait", steps=steps)[0] > 0
    assert _measured("page.queue", steps=steps)[0] > 0


@pytest.mark.parametrize(
    ("requested", "reason", "fix"),
    [
        ("share(page.latency >= 1 s)", "uses `>` or `<=`, not `>=`", "page.latency > 1 s"),
        ("share(page.latency < 1 s)", "uses `>` or `<=`, not `<`", "page.latency <= 1 s"),
        ("share(page.latency == 1 s)", "compares with `>` or `<=`", "page.latency <= 1 s"),
        ("share(1 s < page.latency)", "needs the time on the left", "page.latency > 1 s"),
        (
            "share(page.rate > 1 request/s)",
            "is not a latency or waiting time",
            "page.latency > 2 s",
        ),
        ("share(page.latency > page.wait)", "must be a literal number", "page.latency > 2 s"),
        ("share(page.latency > 3 byte)", "cannot compare", ""),
        ("share(page.latency > -1 s)", "a time is never negative", "0 s or more"),
        ("share(0 s < page.wait < 1 s)", "takes one comparison", "share(page.latency > 2 s)"),
        ("page.wait.p9x", "unknown percentile `p9x`", "page.wait.p95"),
        ("web.cpu.wait.mean", "unknown percentile `mean`", "web.cpu.wait.p95"),
    ],
)
def test_wrong_arguments_are_reported_with_reason_and_fix(
    requested: str, reason: str, fix: str
) -> None:
    text = SPEC.format(
        queried=requested, queueing="mm1", cores=1, traffic="1.5 request/s", steps="work"
    )
    (one,) = check_source(Source("spec.qps", text)).diagnostics
    assert one.primary is not None
    assert reason in one.message
    assert fix in " ".join(one.hints)


def test_columns_of_a_matrix_have_shares_and_waits() -> None:
    text = SPEC.format(
        queried="page.wait", queueing="mmc", cores=4, traffic="6 request/s", steps="work"
    )
    text += """
machine bigger = server with cpu 6 core
require { share(page.wait <= 20 ms) >= 80 % }
matrix sizes {
  web in [server, bigger]
  at N = 50
  column soon = share(page.wait <= 20 ms)
  column waiting = web.cpu.queue
  column late = web.cpu.wait.p95
}
"""
    found = list(qps.loads(text).matrix().to_arrow().to_pylist())
    for row, cores in zip(found, (4, 6), strict=True):
        late, spare = _erlang_c(cores, 3.0), cores * 100.0 - 300.0
        assert row["soon"] == pytest.approx(1 - late * exp(-spare * 0.02), rel=1e-9)
        assert row["waiting"] == pytest.approx(late / spare * 300, rel=1e-9)
        assert row["late"] == pytest.approx(max(0, log(late / 0.05) / spare), rel=1e-9)


LINES = (
    (0.75, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0),
    (0.75, 0.75, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0),
    (0.3, 0.75, 2.0, 3.0, 4.0, 1.0, 0.5, 2.0, 0.0),
    (0.0, 0.0, 0.0, 1.0, 1.0, 0.3, 0.0, 0.2, 0.0),
)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("level", [0.05, 0.5, 0.9, 0.999, 0.9999999])
def test_tails_of_sums_are_the_inverse_of_their_quantiles(count: int, level: float) -> None:
    operands = list(chain(*LINES[:count]))
    time = stages_quantile(level, *operands)
    found = stages_tail(time, *operands)
    within = 1e-2 if count == 2 and level < 0.5 else 1e-6  # kinks of fixed service
    assert found == pytest.approx(1 - level, rel=within)
    assert list(on_arrays([time] * 2, *operands)) == [pytest.approx(found, rel=1e-9)] * 2
    ball = OPERATIONS["stages_tail"].ball(arb(time), *map(arb, operands))
    assert float(ball.mid()) == pytest.approx(found, rel=1e-7)


def test_rare_tails_have_their_digits() -> None:
    for time in (100, 200):
        assert stages_tail(time, *LINES[0]) == pytest.approx(exp(-time / 4), rel=1e-6)


def test_tails_at_the_edges() -> None:
    assert stages_tail(-1.0, *LINES[0]) == 1
    assert stages_tail(0.0, 0.75, 0.75, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0) == pytest.approx(0.75)
    assert stages_tail(5.0, 1.0, 1.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0) == 1
    assert stages_tail(0.3, *LINES[3]) == 0
    assert stages_tail(0.29, *LINES[3]) == pytest.approx(0.2)


@needs_node
def test_scripts_have_the_same_tails() -> None:
    cases = [
        [time, *chain(*LINES[:count])]
        for count in (1, 2, 3, 4)
        for time in (0.0, 0.3, 1.5, 7.0, 40.0, 120.0)
    ]
    text = (
        'import { stagesTail } from "./reports/scripts/engine/queueing/sums.js";\n'
        f"console.log(JSON.stringify({cases}.map((one) => stagesTail(...one))));\n"
    )
    found = json.loads(run_module(text))
    assert found == pytest.approx([stages_tail(*one) for one in cases], rel=1e-8)


SIMULATED = """
require {
  share(page.latency > 200 ms) <= 50 %
  web.cpu.wait.p95 <= 10 s
}
measure number = web.cpu.queue
measure wait = page.wait
measure soon = share(web.cpu.wait <= 20 ms)
measure held = page.queue
"""


@pytest.mark.parametrize("queueing", ["mmc", "ps", "priority"])
def test_waits_are_simulated_as_they_are_predicted(queueing: str) -> None:
    """What has a law is compared by it, all else by its mean."""
    text = SPEC.format(
        queried="page.wait", queueing=queueing, cores=1, traffic="1.5 request/s", steps="work"
    )
    has_law = queueing == "mmc"
    means = "measure number = web.cpu.queue\nmeasure wait = page.wait\n"
    spec = checked(text + (SIMULATED if has_law else means))
    graph = lower(spec.model, spec.configuration(None, ()))
    options = waiting_measures(spec.model)
    effort = Effort(
        seconds=0, seed=1, workers=1, runs=4, levels=quantile_levels(spec.model), measures=options
    )
    found = compared(graph, simulate(simulated_model(graph, 50), effort))
    measures = {f"{row.subject} {row.measure}" for row in found}
    expected = {"page wait", "web.cpu queue"}
    if has_law:
        expected |= {"page queue", "web.cpu wait p95", "page latency > 0.2 s"}
        expected |= {"web.cpu wait <= 0.02 s", "requirement web.cpu.wait.p95"}
    assert expected <= measures
    assert [row for row in found if not row.is_right] == []
