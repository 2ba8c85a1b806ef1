"""Claims of the rows of a matrix."""

from __future__ import annotations

import pytest

import qps
from helpers.nightly import nightly
from helpers.single_rows import no_row_alone
from matrices.test_matrices import BASE, disagreements, rows
from qps.compiler.quantities.certainty import CertaintyKind
from qps.reports.text.claims.claim_quantities import predicted


@pytest.mark.parametrize(
    ("claim", "holds", "expected"),
    [
        ("every configuration: largest_acceptable >= 1", True, "6 of 6"),
        ("every configuration where extra > 1: talk.loss <= 100 %", True, "4 of 4"),
        ("every configuration: extra < 3", False, "4 of 6; not host = box, extra = 3"),
        ("some configuration: extra == 2 and host == big", True, "1 of 6"),
        ("some configuration: extra > 5", False, "0 of 6"),
        ("no configuration: extra > 5", True, "0 of 6"),
        ("no configuration: host == big", False, "3 of 6; such as host = big, extra = 1"),
        ("at least 2 configurations: extra == 1", True, "2 of 6"),
        ("at least 3 configurations: extra == 1", False, "2 of 6; such as host = box, extra = 1"),
        ("at most 2 configurations: extra == 1", True, "2 of 6"),
        ("at most 1 configuration: extra == 1", False, "2 of 6; such as host = box, extra = 1"),
        ("every configuration where extra > 5: host == big", False, "no configuration matches"),
        ("no configuration where extra > 5: host == big", False, "no configuration matches"),
    ],
)
def test_claims_count_configurations(claim: str, holds: bool, expected: str) -> None:
    matrix = "matrix m { host in [box, big]; extra in [1, 2, 3] }"
    text = f'{matrix}\nexpect e {{ {claim}; source "us" }}'
    (result,) = qps.loads(BASE + text).test()
    assert (result.holds, result.counted, result.kind) == (holds, expected, "matrix")


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("every configuration: extra <= 2", CertaintyKind.EXACT),
        ("every configuration: saturation(lan) >= 1", CertaintyKind.EXACT),
        ("every configuration: late <= 1 s", CertaintyKind.APPROXIMATION),
        ("every configuration: quality <= 1", CertaintyKind.APPROXIMATION),
        ("every configuration where late <= 1 s: extra <= 2", CertaintyKind.APPROXIMATION),
        ("every configuration: largest_acceptable >= 1", CertaintyKind.APPROXIMATION),
        ("no configuration: limited_by == lan.load", CertaintyKind.APPROXIMATION),
    ],
)
def test_claims_on_what_is_not_exact_say_so(claim: str, kind: CertaintyKind) -> None:
    matrix = (
        "require { talk.latency <= 1 s }\nmatrix m { extra in [1, 2]; column late = talk.latency }"
    )
    text = f'{matrix}\nexpect e {{ {claim}; source "us" }}'
    (result,) = qps.loads(BASE + text).test()
    assert {result.known.kind, *(side.known.kind for side in result.compared)} == {kind}
    assert predicted(result).startswith("~ ") is (kind is CertaintyKind.APPROXIMATION)


def test_claims_are_about_the_included_rows() -> None:
    text = (
        "matrix m { extra in [1, 2, 3]; where extra < 3 }\n"
        'expect e { every configuration of m: extra <= 2; 1 < 2; source "us" }'
    )
    found = qps.loads(BASE + text).test()
    assert [(one.name, one.holds) for one in found] == [("e[1]", True), ("e[2]", True)]


def test_rows_over_cores_that_do_less_together_are_those_of_solve() -> None:
    text = (
        "users N in 1..5000\nparam count = 4 core in 1..64 core\nparam kept = 90 % in 60..100 %\n"
        "machine big { cpu count, efficiency kept }\nmachine four { cpu 4 core, efficiency 90 % }\n"
        "component work { cpu 10 ms/request }\ntopology { node server = big }\n"
        "stream asked for each server { traffic N * 1 request/s; at server { work } }\n"
        "matrix m { count in [1, 2, 4, 6, 8 core]; kept in [90, 95 %]; server in [big, four] }\n"
    )
    assert disagreements(text, 20) == []
    # 10 ms each: 100 · c · e^(log2 c), met exactly at 1, 2, 4 and 8
    found = {(r["count"], r["kept"], r["server"]): r["capacity"] for r in rows(text, "")}
    assert [found[count, 0.9, "big"] for count in (1, 2, 4, 6, 8)] == [100, 180, 324, 456, 583]
    assert [found[count, 0.95, "four"] for count in (1, 8)] == [324, 324]


def test_rows_with_endless_waits_are_solved_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an overloaded resource adds to a latency is no reason to solve rows one by one."""
    spec = (
        "users N in 1..100\nparam job = 10 ms in 1..100 ms\nmachine box { cpu 1 core }\n"
        "component work { cpu job / (1 request) }\ntopology { node host = box }\n"
        "stream jobs for each host { traffic N * 1 request/s; at host { work } }\n"
        "measure slow = jobs.latency\nmatrix m { job in [5 ms, 10 ms, 20 ms]; at N = 60; "
        "select largest_acceptable, slow }\n"
    )
    no_row_alone(monkeypatch)
    found = [(row["slow"], row["reason"]) for row in rows("", spec)]
    assert found == [(0.005, None), (0.01, None), (None, None)]  # what is infinite is null


WAITS = [
    *("queueing mm1", "queueing md1", "queueing mg1 cv 0.5", "queueing mg1 cv 2"),
    *("queueing mmc", "queueing periodic"),
]


@pytest.mark.parametrize("limit", ["talk.latency", "quantile(talk.latency, 95 %)"])
@pytest.mark.parametrize("queueing", WAITS)
def test_rows_that_wait_are_solved_together(
    queueing: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_row_alone(monkeypatch)
    spec = f"""
users N in 1..2000
machine box {{ cpu 3 core, {queueing} }}
param pace = 2 packet/s in 1..50 packet/s
param most = 20 ms in 1..1000 ms
component work {{ cpu 3 ms/packet }}
topology {{ node host = box }}
stream talk for each host {{ traffic N * pace, 1000 byte/packet; at host {{ work }} }}
require {{ {limit} <= most }}
matrix m {{
  pace in 1..9 packet/s, 5 values
  most in [4 ms, 20 ms, 300 ms]
  column l = {limit} / 1 ms
}}
"""
    assert disagreements(spec, 5) == []


FUNCTIONS = [
    *("cos(N / 60)", "acos(1 - N / 200)", "harmonic(N)", "exp(N / 90)", "log2(1 + N)"),
    *(
        "sqrt(N)",
        "N ^ 0.7",
        "lambert_w(N)",
        "-lower_lambert_w(-1 / (N + 3))",
        "waiting(N, N / 300)",
    ),
    *(
        "erlang_b(20, N / 4)",
        "erlang_c(70, N / 4)",
        "md1_tail(N / 300, 3)",
        "normal_tail(3 - N / 50)",
    ),
    *("md1_quantile(N / 300, 99 %)", "periodic_wait(N, N / 300)", "periodic_tail(N, N / 300, 2)"),
    *(
        "periodic_quantile(N, N / 300, 90 %)",
        "normal_quantile(N / 300)",
        "abs(N - 7)",
        "ceil(N / 7)",
    ),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_function_of_the_language_takes_a_row_out(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_row_alone(monkeypatch)
    text = BASE.replace("users N in 1..200", "users N in 1..200\nparam limit = 2 in 0.001..1000")
    text += f"measure m = {function}\nrequire {{ m <= limit }}\n"
    assert disagreements(text + "matrix x { limit in 0.001..40, 7 log values }", 4) == []


def test_what_depends_on_the_population_is_guarded_at_its_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rate that is elastic loads a resource of all users where a cost of it is not zero.

    So the first row has a structure of its own, and the others share one.
    """
    no_row_alone(monkeypatch)
    spec = (
        "users N in 1..40\nparam job = 5 ms in 0..50 ms\nmachine box { cpu 1 core }\n"
        "network wire { rate 1 Mbit/s }\ncomponent work { cpu job / (1 packet) }\n"
        "param pace elastic 1..50 packet/s\n"
        "topology { node host = box; node user = box * N; link lan = wire between host, user }\n"
        "stream talk for each user { traffic N * pace, 500 byte/packet; at user { }; over lan; at host { work } }\n"
    )
    assert disagreements(spec + "matrix m { job in [0 ms, 0.01 ms, 5 ms, 20 ms] }\n") == []


@pytest.mark.parametrize(
    ("ends", "values"),
    [("1 packet/s..end", "2..60"), ("end..30 packet/s", "0.2..25"), ("end / 4..end", "0.2..60")],
)
def test_ends_of_what_is_elastic_vary_from_row_to_row(
    ends: str, values: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are symbols, as all numbers are: no row has a structure of its own."""
    no_row_alone(monkeypatch)
    text = (
        BASE
        + f"""
param end = 3 packet/s in 0..100 packet/s
param rate elastic {ends}
stream more for each host {{ traffic rate, 2 kbyte/packet; at host {{ work }}; over lan; at host {{ work }} }}
require {{ more.rate >= 2 packet/s ideal 30 packet/s }}
matrix m {{ end in {values} packet/s, 13 values }}
"""
    )
    assert disagreements(text, 13) == []


def test_loads_that_rise_and_fall_are_followed_for_all_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no_row_alone(monkeypatch)
    spec = (
        "users N in 1..90\nparam job = 1 ms in 0.1..50 ms\nmachine box { cpu 1 core }\n"
        "component work { cpu job / (1 request) }\ntopology { node host = box }\n"
        "stream jobs for each host { traffic N * (2 + cos(N / 5)) * 4 request/s; at host { work } }\n"
        "matrix m { job in 2..20 ms, 9 values }\n"
    )
    assert disagreements(spec, 9) == []


def test_a_load_that_falls_faster_than_the_population_grows_never_saturates() -> None:
    """1/N^2 and less: multiplied out to a polynomial, the target is its highest power."""
    text = """users N in 2..100
machine box { cpu 1 core }
machine big { cpu 4 core }
component work { cpu 20 ms/packet }
topology { node host = box }
stream flow for each host { traffic 3 packet/s / N^3, 50 byte/packet; at host { work } }
matrix m { host in [box, big] }
"""
    assert disagreements(text) == []


def test_rows_none_of_which_can_be_are_refused_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """No value of the axis is whole: guards tell it of all rows, for the reason that solve gives."""
    spec = (
        "users N in 1..100\nparam hosts = 2\nmachine box { cpu 1 core }\n"
        "component work { cpu 1 ms/request }\ntopology { node host = box * hosts }\n"
        "stream jobs for each host { traffic N * 1 request/s; at host { work } }\n"
        "matrix m { hosts in 1.3..1.7, 9 values }\n"
    )
    assert disagreements(spec) == []
    no_row_alone(monkeypatch)
    assert all("whole" in row["reason"] for row in rows("", spec))


def test_what_comes_ever_nearer_to_its_limit_fails_where_it_does() -> None:
    """Floats tell its failure thousands of populations off: it is found exactly, not walked to."""
    text = """users N in 1..100_000_000
param gap = 1 in 0.5..4
machine box { cpu 1 core }
component work { cpu 1 ms/request }
topology { node host = box }
stream jobs for each host { traffic N * 1 request/s / 1_000_000_000; at host { work } }
measure near = 1 - 1 / (N * N)
require { near <= 1 - gap / 100_000_000_000_000 }
matrix m { gap in 0.5..4, 5 values }
"""
    assert disagreements(text, 5) == []


CALLS = """
users N in 1..100000
param misses = 20 % in 0..1
param queries = 2 in 1..10
option audited = off or on
machine pod {{ cpu 2 core{}; price 1 $/hour }}
network mesh {{ switched; rate 1 Gbit/s; header 66 byte/packet; propagation 1 ms; queueing md1 }}
component work(t) {{ cpu t }}
topology {{
  node web = pod * 4
  node db = pod
  node cache = pod
  node log = pod
  link lan = mesh between web, db, cache, log
}}
stream shop for each web {{
  traffic N * 1 request/s, 2 kB/request, 1448 byte/packet
  at web {{
    work(1 ms/request)
    call db * misses, sends 300 byte/request {{ work(4 ms/request); call cache * queries {{ work(1 ms/request) }} }}
    together {{ call log if audited == on {{ work(2 ms/request) }}; call cache {{ work(3 ms/request) }} }}
  }}
}}
require {{ shop.latency <= 80 ms; quantile(shop.latency, 95 %) <= 150 ms; web.cpu.load <= 70 % }}
matrix rows {{ misses in {}; queries in {}; audited in [off, on] }}
"""


@pytest.mark.parametrize(
    ("queueing", "misses", "queries", "count"),
    [
        ("", "[0, 15 %, 100 %]", "[1, 2.5]", 12),
        pytest.param(", queueing mmc", "[0, 15 %, 100 %]", "[1, 2.5]", 12, marks=nightly),
        # those without misses take long
        pytest.param(", queueing mg1 cv 2", "[15 %, 100 %]", "[1, 2.5]", 8, marks=nightly),
    ],
)
def test_rows_over_calls_are_what_solve_says(
    queueing: str, misses: str, queries: str, count: int
) -> None:
    assert disagreements(CALLS.format(queueing, misses, queries), count=count) == []
