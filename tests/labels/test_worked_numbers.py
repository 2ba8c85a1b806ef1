"""Each constant of an approximation, held by a number that is worked out by hand beside it."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from helpers.specs import lowered
from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart
from qps.compiler.lower.response_time.stage_sequence import Allotment, allotted
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.expressions.formulas import ONE, Formula, number
from qps.engine.queueing_networks import convolution, product_form

_ONE = """
users N in 1..2
machine box {{ cpu {cores} core, queueing {queueing} }}
component work {{ cpu 1 s/request }}
topology {{ node a = box }}
stream job in all {{ traffic {rate} request/s; at a {{ work }} }}
"""


@pytest.mark.parametrize(
    ("queueing", "cores", "load", "wait"),
    [
        # Erlang's C(4, 2) = 4/23, a wait of 4/23/2 = 0.0869565. Burman and Smith: 4^(-1/sqrt(1.44
        # + 4 4)) = 0.717518, weighted 0.858759; 2.5^0.858759 = 2.196517.
        ("mgc cv 2", 4, 0.5, 0.191001),
        # C = 2 0.64/1.8, a wait of 1.777778. Cosmetatos: 0.2 (sqrt(14) - 2)/(16 2 0.8) = 0.0136067,
        # half of 1.0136067.
        ("mgc cv 0", 2, 0.8, 0.900984),
        # Hardly anybody waits: (c - 1)/(c + 1) = 1/3 at most, so 2/3 of 0.0001/(1.01 0.99).
        ("mgc cv 0", 2, 0.01, 6.66733e-5),
        # Kimura: 1.25/(2 0.25 + 2 0.75/1.0136067) of 1.777778.
        ("mgc cv 0.5", 2, 0.8, 1.122411),
    ],
)
def test_waits_for_several_servers(queueing: str, cores: int, load: float, wait: float) -> None:
    graph = lowered(_ONE.format(queueing=queueing, cores=cores, rate=load * cores))
    value = graph.at(1).number(graph.streams["job"].mean_latency) - 1
    assert value == pytest.approx(wait, rel=2e-5)


def _part(*often: F) -> LatencyPart:
    """Return a stage within calls, each made so often."""
    reached, calls = F(1), []
    for at, times in enumerate(often):
        reached *= times
        made = CallFactor(
            number=at,
            node="b",
            times=number(times),
            reached=number(reached),
            is_whole=times.denominator == 1,
        )
        calls.append(made)
    return LatencyPart(stage="here", value=ONE, calls=tuple(calls))


@pytest.mark.parametrize(
    ("times", "level"), [(F(1), F(99, 100)), (F(1, 2), F(98, 100)), (F(1, 100), 0), (F(1, 500), 0)]
)
def test_a_wait_that_few_items_have_needs_less_precision(times: F, level: F) -> None:
    """A hundredth of all may be later: of half of them two hundredths."""
    result = Allotment(F(1, 100), F(0)).level(_part(times))
    assert (result.exact if isinstance(result, Formula) else result) == level


@pytest.mark.parametrize(
    ("often", "more", "times"),
    [
        ((F(3),), F(0), 3),
        ((F(3, 2),), F(0), 2),
        # A half makes a second call: where a half may be left out, nobody does.
        ((F(3, 2),), F(1, 2), 1),
        ((F(1, 100),), F(1, 200), 1),
        ((F(1, 100),), F(1, 100), 0),
        # Of the hundredth that is reached half may be left out by two hundredths of it.
        ((F(1, 100), F(1, 2)), F(1, 200), 0),
        ((F(1, 2), F(1, 2)), F(1, 10), 1),
    ],
)
def test_calls_are_counted_less_often_by_what_may_be_left_out(
    often: tuple[F, ...], more: F, times: int
) -> None:
    assert Allotment(F(0), more).times(_part(*often)).exact == times


def test_what_a_quantile_leaves_is_shared_by_waits_and_calls() -> None:
    """A tenth is left: for what varies alone all of it, for a call beside it half of it each."""
    tenth = F(1, 10)
    assert allotted([_part()], 1 - tenth, varies=False) == [Allotment(tenth, F(0))]
    result = allotted([_part(F(1, 4))], 1 - tenth, varies=True)
    assert result == [Allotment(tenth, F(0)), Allotment(tenth / 2, tenth / 2)]


_NESTED = """
unit thread
users N in 1..2
machine outer {{ threads 2 thread }}
machine inner {{ conns {places} thread; cpu 1 core, queueing mm1 }}
network wire {{ propagation 0 s }}
component work {{ cpu 1 s/request }}
topology {{ node a = outer; node b = inner; link l = wire between a, b }}
stream job in all {{
  traffic {rate} request/s
  at a {{ take threads; call b {{ take conns; work; give conns }}; give threads }}
}}
"""


@pytest.mark.parametrize("rate", [0.9, 0.95])
def test_within_a_pool_no_more_are_there_than_it_has_places(rate: float) -> None:
    """Two at most are at a server of 1 s, so that none holds a place for more than 2 s."""
    graph = lowered(_NESTED.format(places=5, rate=rate))
    assert graph.at(1).number(graph.resources["b.conns"].load) == pytest.approx(2 * rate / 5)


_COPIES = """
users N in 1..2
machine box {{ }}
network lan {{ rate 100 kbit/s; queueing {queueing} }}
component send {{ }}
topology {{ node src = box; node rcv = box * 5; link net = lan between src, rcv }}
stream job {{
  traffic 10 packet/s, 1000 bit/packet
  at src {{ send to all rcv }}
  over net
  at rcv {{ }}
}}
"""


@pytest.mark.parametrize(
    ("queueing", "mean", "quantile"),
    [
        ("md1", CertaintyKind.EXACT, CertaintyKind.UPPER_BOUND),
        ("mm1", CertaintyKind.EXACT, CertaintyKind.UPPER_BOUND),
        ("mg1 cv 2", CertaintyKind.EXACT, CertaintyKind.APPROXIMATION),
        ("ps", CertaintyKind.APPROXIMATION, CertaintyKind.APPROXIMATION),
    ],
)
def test_of_copies_that_leave_together_no_quantile_is_exact(
    queueing: str, mean: CertaintyKind, quantile: CertaintyKind
) -> None:
    stream = lowered(_COPIES.format(queueing=queueing)).streams["job"]
    assert stream.latency_certainty.kind is mean
    assert stream.quantile_certainty(F(99, 100)).kind is quantile


@pytest.mark.parametrize("customers", [1, 2, 3])
@pytest.mark.parametrize(
    ("servers", "load"), [(3, F(1, 2)), (4, F(2)), (3, F(1, 1000)), (20, F(1, 10)), (60, F(1))]
)
def test_open_visits_wait_where_any_may(customers: int, servers: int, load: F) -> None:
    """By sums of all states, in fractions; where nobody waits but once in 10^16 nothing is told."""
    station = (F(1), servers, load, F(1))
    (exactly,) = convolution.waits_of(customers, F(1), [station])
    floats = (1.0, float(servers), float(load), 1.0)
    (result,) = product_form.waits_of(customers, 1.0, (floats,))
    assert result == pytest.approx(float(exactly), rel=1e-9, abs=1e-15)
