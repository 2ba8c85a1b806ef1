"""Failures to survive: the states that they leave are those of modes written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qps
from qps.cli import main
from qps.compiler.check.names.failure_states import NONE_LOST
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source

SPEC = """
users N in 1..1_000_000
param apps = 4
machine vm  {{ cpu 4 core; price 90 $/month }}
machine big {{ cpu 8 core; price 400 $/month }}
machine pc  {{ }}
network lan {{ switched; rate 10 Gbit/s }}
topology {{
  node web = vm * apps
  node db = big * {db}
  node client = pc * N
  link net = lan * 3 between client, web, db
}}
component page {{ cpu 5 ms/request }}
component query {{ cpu 3 ms/request }}
stream browse for each client {{
  traffic 1 request / 10 s, 2 kB/request
  at client {{ }}
  at web {{ page; call db {{ query }} }}
}}
target cpu 80 %
require {{ web.cpu.utilization <= 75 % }}
"""


def _spec(*lines: str, db: int = 3) -> str:
    return SPEC.format(db=db) + "\n".join(lines)


def _capacities(text: str, **arguments: object) -> dict[str | None, int | None]:
    solution = qps.loads(text).solve(**arguments)  # type: ignore[arg-type]
    return {one.mode: one.capacity for one in solution.modes}


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("survive any one of web", {"web_lost": "web = vm * 3"}),
        (
            "survive any one of web, db",
            {"web_lost": "web = vm * 3", "db_lost": "db = big * 2"},
        ),
        (
            "survive any two of web, db",
            {
                "two_web_lost": "web = vm * 2",
                "web_and_db_lost": "web = vm * 3; db = big * 2",
                "two_db_lost": "db = big * 1",
            },
        ),
        ("survive any 3 of web", {"three_web_lost": "web = vm * 1"}),
        # Of 4 machines in 3 zones two can stand in one, of 3 one does.
        (
            "survive any one of 3 zones with web, db",
            {"zone_of_3_lost": "web = vm * 2; db = big * 2"},
        ),
        ("survive any two of 3 zones with web", {"two_zones_of_3_lost": "web = vm * 1"}),
        ("survive any one of net", {"net_lost": "net = lan * 2"}),
        (
            "survive any one of db { web.cpu.utilization <= 90 % }",
            {"db_lost": "db = big * 2; web.cpu.utilization <= 90 %"},
        ),
    ],
)
def test_each_state_is_a_mode_with_what_is_left(line: str, counts: dict[str, str]) -> None:
    by_hand = [f"mode {name} {{ {changes} }}" for name, changes in counts.items()]
    found = _capacities(_spec(line))
    assert found == _capacities(_spec("mode none_lost { }", *by_hand))
    assert found[NONE_LOST] == _capacity(_spec())


def _capacity(text: str, **arguments: object) -> int | None:
    return qps.loads(text).solve(**arguments).capacity  # type: ignore[arg-type]


def test_each_mode_has_every_state() -> None:
    modes = ["mode calm { web.cpu.utilization <= 50 % }", "mode busy { }"]
    found = _capacities(_spec(*modes, "survive any one of web"))
    assert list(found) == ["calm", "calm_web_lost", "busy", "busy_web_lost"]
    for name, limit in (("calm", "50 %"), ("busy", "75 %")):
        left = _spec().replace("vm * apps", "vm * 3").replace("<= 75 %", f"<= {limit}")
        assert found[f"{name}_web_lost"] == _capacity(left)


@given(web=st.integers(2, 12), db=st.integers(2, 9), zones=st.integers(2, 5))
@settings(max_examples=15, deadline=None)
def test_the_capacity_is_that_of_the_worst_state(web: int, db: int, zones: int) -> None:
    """However many machines are set, one of them fails; the largest zone has them rounded up."""
    survive = f"survive any one of web, db\nsurvive any one of {zones} zones with web, db"
    text = _spec(survive)
    changes = {"web": f"vm * {web}", "db": f"big * {db}"}
    left = {"web": web - -(-web // zones), "db": db - -(-db // zones)}
    if min(left.values()) < 1:
        with pytest.raises(qps.QpsError, match="after this failure"):
            _capacity(text, set=changes)
        return
    states = [
        changes | {"web": f"vm * {web - 1}"},
        changes | {"db": f"big * {db - 1}"},
        {"web": f"vm * {left['web']}", "db": f"big * {left['db']}"},
    ]
    expected = min(_capacity(_spec(), set=one) or 0 for one in states)
    assert _capacity(text, set=changes) == expected


def test_a_parameter_counts_the_machines_before_the_failure() -> None:
    text = _spec("survive any one of web")
    assert _capacity(text, set={"apps": 7}) == _capacity(_spec(), set={"apps": 6})


def test_one_state_can_be_selected() -> None:
    text = _spec("survive any one of web, db")
    assert _capacity(text, set={"mode": "db_lost"}) == _capacity(_spec(db=2))


def test_sizing_counts_the_machines_that_fail() -> None:
    """75 % of 4 cores serve 6,000 users: 20,000 need 4 machines after the failure, so 5."""
    sizing = qps.loads(_spec("survive any one of web", db=9)).size(20_000)
    (web,) = [one for one in sizing.resources if one.name == "web.cpu"]
    assert web.machines is not None
    assert (web.machines.takes, web.mode) == (5, "web_lost")
    assert _capacity(_spec("survive any one of web", db=9), set={"apps": 5}) == 24_000
    assert _capacity(_spec("survive any one of web", db=9), set={"apps": 4}) == 18_000


def test_a_node_for_each_kind_fails_one_by_one() -> None:
    text = """
    users N in 1..100_000
    kinds zone { a 50 %; b 50 % }
    machine vm { cpu 2 core }
    topology { node web for each zone = vm * 3 }
    component page { cpu 5 ms/request }
    stream browse in all in each zone {
      traffic N * zone * 1 request / 10 s, 2 kB/request
      at web { page }
    }
    survive any one of web
    """
    assert set(_capacities(text)) == {NONE_LOST, "web_a_lost", "web_b_lost"}


def test_a_failure_in_an_instance(tmp_path: object) -> None:
    """The failures of an instance are those of the spec that uses it."""
    text = _spec("survive any one of shop.web").replace("users N", "users N")
    found = check_source(Source("spec.qps", text))
    assert "unknown node `shop.web`" in "\n".join(d.message for d in found.diagnostics)


def test_a_difference_counts_the_machines_before_the_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From 4 to 6 machines, one of which is lost: 18,000 users become 30,000, by one change."""
    files = []
    for machines in (4, 6):
        text = _spec("survive any one of web", db=9).replace("vm * apps", f"vm * {machines}")
        files.append(tmp_path / f"{machines}.qps")
        files[-1].write_text(text)
    main(["diff", *map(str, files)])
    printed = " ".join(capsys.readouterr().out.split())
    assert "Change web: 4 -> 6 machines (+12,000 users)" in printed


@pytest.mark.parametrize("failures", ["survive any one of web, db", "survive any 11 of web, db"])
def test_advice_is_what_all_states_support(failures: str) -> None:
    text = _spec(failures, "require { browse.p99 <= 400 ms }", db=13).replace(
        "param apps = 4", "param apps = 12"
    )
    advice = [one for one in qps.loads(text).solve(advice=True).advice if one.set]
    assert len(advice) >= 2
    for one in advice:
        changes = [change.split(" = ") for change in one.together or (one.change,)]
        states = _capacities(text, set=dict(changes))
        assert one.capacity == min(capacity or 0 for capacity in states.values())


def test_states_of_many_machines_are_not_times(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "many.qps"
    path.write_text(
        _spec("survive any 20 of web", db=3).replace("param apps = 4", "param apps = 25")
    )
    assert main(["solve", str(path)]) == 0
    found = capsys.readouterr().out
    assert "20_web_lost limits capacity; capacity by mode" in " ".join(found.split())
    assert "Times" not in found
