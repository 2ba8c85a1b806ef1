"""How losses and waits of streams are known, and labels that said more than is true."""

from __future__ import annotations

from fractions import Fraction

import pytest
from msgspec.structs import replace

import qps
from helpers.breakdowns import explain
from helpers.specs import checked, lowered
from labels.test_certainty import IN_WORDS, LATE
from labels.test_certainty_in_tables import EFFORT, compiled
from qps.compiler.lower.queues.queue_certainty import mean_certainty
from qps.compiler.quantities.certainty import (
    Certainty,
    CertaintyKind,
)
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import number as number_of
from qps.reports.text.matrix_output import matrix_layout
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_runner import ClaimRunner

# -- losses of resources in a row -----------------------------------------------------

ROW = """
users N in 1..1000
machine box { cpu 1 core }
machine pc { }
network wire { switched; rate 1 Tbit/s }
component step { cpu 10 ms/request }
topology { node a = box; node b = box; node user = pc * N; link lan = wire between a, b, user }
stream p for each user { traffic 1 request/s, 1 byte/request; at a { step }; at b { step } }
measure kept = 1 - p.loss
"""


@pytest.mark.parametrize(
    ("measure", "kind"),
    [
        ("loss", "upper"),
        ("saturation_loss", "upper"),
        ("voluntary_loss", "exact"),
        ("transmission_loss", "exact"),
        ("rate", "lower"),
        ("throughput", "lower"),
    ],
)
def test_what_is_lost_at_saturated_resources_in_a_row_is_an_upper_bound(
    measure: str, kind: str
) -> None:
    graph = lowered(ROW)
    by_name = {at: explain(graph, f"p.{measure}", at).known.kind for at in (100, 101, 200)}
    assert by_name == {100: "exact"} | dict.fromkeys((101, 200), IN_WORDS[kind].value)
    # with one of them there is nothing before that loses
    single = lowered(ROW.replace("at b { step }", "at b { }"))
    assert explain(single, f"p.{measure}", 200).known.kind == "exact"


def test_a_bound_of_the_loss_follows_into_what_is_made_of_it() -> None:
    graph = lowered(ROW)
    assert [explain(graph, "kept", at).known.kind for at in (100, 200)] == [
        "exact", "lower bound",
    ]  # fmt: skip
    (below, beyond) = Claims(
        ClaimRunner(
            model=checked(
                ROW + "expect a { p.loss < 1 with N = 100; p.loss > 0 with N = 200 }\n"
            ).model
        )
    ).results()
    assert (below.known.kind, beyond.known.kind) == (CertaintyKind.EXACT, CertaintyKind.UPPER_BOUND)


def test_the_loss_of_a_stream_that_meets_a_thinned_one_is_an_upper_bound() -> None:
    other = "stream q for each user { traffic 1 request/s, 1 byte/request; at b { step } }\n"
    graph = lowered(ROW + other)
    assert explain(graph, "q.loss", 200).known.kind == "upper bound"
    assert explain(graph, "q.loss", 60).known.kind == "exact"


def test_the_answer_stays_certain_where_a_load_settles_it() -> None:
    view = qps.loads(f"{ROW}require {{ p.loss <= 1 % }}\n").solve()
    (loss,) = view.requirements
    assert (view.known.kind, view.capacity) == ("exact", 100)
    # up to 1 % at both of them: the loss may be within its limit for some more
    assert (loss.known.kind, loss.met_up_to_known.kind) == ("exact", "lower bound")
    assert view.more_users is not None
    assert view.more_users.streams[0].loss_known.kind == "upper bound"
    assert view.more_users.streams[0].rate_known.kind == "lower bound"


def test_a_column_of_losses_is_a_bound_as_some_of_its_rows_may_be() -> None:
    assert qps.loads(ROW).known()["kept"].kind == "lower bound"


# -- users who think ------------------------------------------------------------------

REQUESTING = """
users N in 1..400
param think = 10 s
machine box { cpu 1 core, queueing mm1 }
machine pc { }
network wire { switched; rate 1 Gbit/s }
component step { cpu 50 ms/request }
topology { node a = box; node user = pc * N; link lan = wire between a, user }
stream p for each user { traffic 1 request / think, 1 byte/request; at a { step } }
require { p.latency <= 300 ms }
"""


def test_users_who_think_are_reported_as_taken_for_open_traffic() -> None:
    stream = lowered(REQUESTING).streams["p"]
    for known in (stream.latency_certainty, stream.quantile_certainty(Fraction(9, 10))):
        assert known.kind is CertaintyKind.UPPER_BOUND
        assert any("closed traffic of `p` is modeled as open" in r for r in known.reasons)
    assert qps.loads(REQUESTING).solve().known.kind == "lower bound"
    stated = REQUESTING.replace("param think = 10 s", "param pace = 0.1 request/s")
    stated = stated.replace("1 request / think", "pace")
    assert lowered(stated).streams["p"].latency_certainty.is_exact
    uncertain = REQUESTING.replace("at a { step } }", "at a { step }; at user { } }")
    assert qps.loads(uncertain).solve().answer.startswith("About ")


def test_only_networks_in_product_form_bound_users_who_think() -> None:
    stream = lowered(REQUESTING.replace("mm1", "md1")).streams["p"]
    assert stream.latency_certainty.kind is CertaintyKind.APPROXIMATION
    in_steps = REQUESTING.replace("queueing mm1", "queueing periodic")
    assert "modeled as open" not in str(lowered(in_steps).streams["p"].latency_certainty)


def test_who_meets_users_who_think_waits_less_than_is_reported_too() -> None:
    other = "stream q for each user { traffic 0.1 request/s, 1 byte/request; at a { step } }\n"
    known = lowered(REQUESTING + other).streams["q"].latency_certainty
    assert known.kind is CertaintyKind.UPPER_BOUND
    assert "closed traffic of `p`" in known.reasons[0]


# -- labels that said more than is true -----------------------------------------------


def _latency_known(machine: str, cost: str, stream: str, more: str = "") -> Certainty:
    text = (
        f"users N in 1..20\nmachine m {{ a {machine} }}\ncomponent x {{ a {cost} }}\n"
        f"topology {{ node s = m{' * N' if 'each s' in stream else ''} }}\n{more}\n"
        f"stream job {stream}\nrequire {{ job.latency <= 100 s }}\n"
    )
    return lowered(text).streams["job"].latency_certainty


KINDS = "kinds who { light 60 %; heavy 40 % }\nparam cost by who { light 50 ms; heavy 200 ms }"

CLOSED = "for each user { traffic 1 request, think 1 s; at s { x } }"

OPEN = "in all { traffic N * 1 request/s; at s { x } }"


@pytest.mark.parametrize(
    ("queueing", "kind"), [("mm1", CertaintyKind.APPROXIMATION), ("ps", CertaintyKind.EXACT)]
)
def test_kinds_of_items_of_a_closed_stream_are_exact_where_they_share(
    queueing: str, kind: CertaintyKind
) -> None:
    known = _latency_known(f"1 core, queueing {queueing}", "cost / (1 request)", CLOSED, KINDS)
    assert known.kind is kind


@pytest.mark.parametrize(
    ("under_way", "kind"), [(1, CertaintyKind.EXACT), (2, CertaintyKind.APPROXIMATION)]
)
def test_items_at_machines_of_their_holders_are_exact_where_they_are_alone(
    under_way: int, kind: CertaintyKind
) -> None:
    stream = f"for each s {{ traffic {under_way} request, think 1 s; at s {{ x }} }}"
    assert _latency_known("1 core, queueing mm1", "0.1 s/request", stream).kind is kind


@pytest.mark.parametrize("queueing", ["mmc", "ps"])
def test_who_waits_for_a_thread_and_for_a_core_besides_waits_no_longer_than_is_reported(
    queueing: str,
) -> None:
    machine = f"2 core, queueing {queueing}"
    assert _latency_known(machine, "0.1 s/request", OPEN).kind is CertaintyKind.EXACT
    alone = "0.1 s/request single_thread"
    assert _latency_known(machine, alone, OPEN).kind is CertaintyKind.UPPER_BOUND
    more = "component y { a 0.1 s/request }\nstream k in all { traffic 1 request/s; at s { y } }"
    assert _latency_known(machine, alone, OPEN, more).kind is CertaintyKind.APPROXIMATION


def test_what_is_dropped_of_a_closed_stream_thinks_again_at_once() -> None:
    stream = "for each user { traffic 1 request, think 1 s; at s { x; lose } }"
    more = "component lose { drop 10 % }"
    known = _latency_known("1 core, queueing mm1", "0.1 s/request", stream, more)
    assert known.because == known_by("lost-users-think", "job").because


def test_several_servers_with_general_service_state_what_was_simulated() -> None:
    known = _latency_known("4 core, queueing mgc cv 3", "0.1 s/request", OPEN)
    assert known.error == 0.05


def test_very_bursty_arrivals_warn_that_two_moments_are_not_enough() -> None:
    stream = "in all { traffic N * 1 request/s; arrivals cv 5; at s { x } }"
    known = _latency_known("1 core, queueing mm1", "0.01 s/request", stream)
    assert "up to 2.5×" in known.reasons[0]


def test_copies_that_leave_together_are_not_reported_exactly_at_several_cores() -> None:
    text = (
        "users N in 1..20\nmachine m { a 4 core, queueing mmc }\ncomponent x { a 1 ms/request }\n"
        f"topology {{ node s = m }}\nstream job {OPEN}\n"
    )
    queue = next(part.queue for part in lowered(text).streams["job"].latency if part.queue)
    together_there = tuple(replace(visit, batch=number_of(Fraction(3))) for visit in queue.visits)
    assert mean_certainty(queue).is_exact
    known = mean_certainty(replace(queue, visits=together_there))
    assert known.kind is CertaintyKind.APPROXIMATION


@pytest.mark.parametrize(
    ("queueing", "kind"),
    [
        ("md1", CertaintyKind.UPPER_BOUND),
        ("mm1", CertaintyKind.UPPER_BOUND),
        ("mg1 cv 2", CertaintyKind.APPROXIMATION),
        ("mg1 cv 0.5", CertaintyKind.APPROXIMATION),
    ],
)
def test_quantiles_of_batches_are_bounded_where_the_law_of_a_batch_is_known(
    queueing: str, kind: CertaintyKind
) -> None:
    text = (
        f"users N in 1..20\nmachine m {{ a 1 core, queueing {queueing} }}\n"
        "component x { a 1 ms/request }\n"
        f"topology {{ node s = m }}\nstream job {OPEN}\n"
    )
    queue = next(part.queue for part in lowered(text).streams["job"].latency if part.queue)
    together_there = tuple(replace(visit, batch=number_of(Fraction(3))) for visit in queue.visits)
    batches = replace(queue, visits=together_there)
    assert batches.law.stage_known(batches).kind is kind
    known = batches.law.quantiles_known(batches)
    assert known.kind is kind
    assert known.error is None


def test_an_axis_in_per_cent_is_labeled_so() -> None:
    text = f"{EFFORT.replace('cpu effort', 'cpu effort * (1 - hit)')}param hit = 90 %\n"
    text += f"require {{ {LATE} <= 60 ms }}\nmatrix shares {{ hit in [80, 95 %] }}\n"
    rows = matrix_layout(compiled(text), qps.loads(text).matrix().to_arrow()).as_text(200)
    values = [row.split()[:2] for row in rows.splitlines()]
    assert [" ".join(value) for value in values if value[1:] == ["%"]] == ["80 %", "95 %"]
