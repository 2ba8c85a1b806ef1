"""`qps solve --for`: what it refuses, and what it prints."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import json
from pathlib import Path

import pytest

import qps
from inverse.test_inverse import BASE, FREE, LOAD, MODES, PLACES, _solved
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.reports.text.changes.inverse_text import InverseView, inverse_answer

# -- what cannot be answered ----------------------------------------------------------

# spec, number, population, changes, what is said, and what would fix it
REFUSED = [
    (BASE, "N", 20, [], "`N` is the population and cannot be solved for", "for the capacity, run `qps solve` without `--for`"),
    (BASE, "hust.cpu.speed", 20, [], "unknown number `hust.cpu.speed`", "available: `p` and `work.cpu.packet`"),
    (BASE, "work.cpu.packt", 20, [], "unknown number `work.cpu.packt`", "did you mean `work.cpu.packet`?"),
    (BASE, "p", 101, [], "N = 101 is outside the range 1 to 100 (whole numbers)", "widen the range of `users N`, or use another number"),
    (BASE, "p", 0, [], "N = 0 is outside the range 1 to 100 (whole numbers)", "widen the range of `users N`, or use another number"),
    (BASE, "p", 9, ["N = 10..20"], "N = 9 is outside the range 10 to 20 (whole numbers)", "widen the range of `users N`, or use another number"),
    (BASE + "param d = 2 * p\n" + "measure m = d\n", "d", 20, [], "`d` is computed from other numbers and cannot be solved for", "solve for `--for p`; or set `d` to a number first: `--set 'd = …'`"),
    (BASE + "param r = 2\nparam d = r * p + r\nmeasure m = d\n", "d", 20, [], "`d` is computed from other numbers and cannot be solved for", "solve for `--for r` or `--for p`; or set `d` to a number first: `--set 'd = …'`"),
    (BASE + "option fast = off\nparam d = if fast then 1 else 2\nmeasure m = d\n", "d", 20, [], "`d` is computed from other numbers and cannot be solved for", "set `d` to a number first: `--set 'd = …'`"),
    (BASE + "param cameras = 4\n", "cameras", 20, [], "no utilization or requirement depends on `cameras`", "use it in the model, or solve for an input that `qps explain` lists"),
    (BASE.replace("{ work }", "{ work; work if p > 3 }"), "p", 20, [], "a condition depends on `p`, so that there is no single formula", "solve for a number that no `if` uses"),
    (FREE.replace("param p", "param c = 4\nparam p").replace("{ work }", "{ work; work if c > 3 }"), "c", 20, [], "a condition depends on `c`, so that there is no single formula", "solve for a number that no `if` uses"),
    (FREE.replace("p = 1 in 0..10", "p = 0") + "measure m = p\nrequire { m <= 3 }\n", "p", 20, [], "`p` is 0 now and has no range to search", "add a range: `param p = … in low..high`"),
    # at 6 users (N - 5)^2 p is p, but at 1 it is 16 p
    (BASE + "measure m = (N - 5)^2 * p\nrequire { m <= 4 }\n", "p", 6, [], "6 users are supported with p at 4, but 1 are not", "a smaller population fails: raise the lower end of `users`, or solve for the failing population"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "name", "population", "changes", "message", "hint"), REFUSED)
def test_what_cannot_be_answered_is_said_with_a_fix(
    spec: str, name: str, population: int, changes: list[str], message: str, hint: str
) -> None:
    with pytest.raises(QpsError) as raised:
        _solved(spec, name, population, *changes)
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message, diagnostic.hints) == (
        "QPS0602",
        message,
        (hint,),
    )


def test_what_is_worked_out_may_be_set_and_then_requested() -> None:
    text = BASE.replace("N * p", "N * d").replace("param p = 1\n", "param p = 1\nparam d = 2 * p\n")
    assert inverse_answer(_solved(text, "d", 20, "d = 3")).startswith(
        "20 users: d must be at most 5 ("
    )


def test_what_a_mode_makes_a_number_of_its_own_is_requested_there() -> None:
    text = BASE.replace("N * p", "N * d").replace("param p = 1\n", "param p = 1\nparam d = 2 * p\n")
    text += "mode a { d = 3 }\nmode b { p = 2 }\n"
    assert inverse_answer(_solved(text, "d", 20, "mode = a")).startswith(
        "20 users: d must be at most 5 ("
    )
    with pytest.raises(QpsError):
        _solved(text, "d", 20)


def test_a_number_of_a_part_of_a_user_is_refused() -> None:
    with pytest.raises(QpsError):
        qps.loads(BASE).solve_for("p", 20.5)  # type: ignore[arg-type]


# -- from Python ----------------------------------------------------------------------


def test_from_python() -> None:
    result = qps.loads(MODES).solve_for("p", 10)
    assert isinstance(result, InverseView)
    (interval,) = result.intervals
    assert (interval.to, interval.fails_above, interval.mode_above) == (
        pytest.approx(10 / 3),
        LOAD,
        "b",
    )
    assert (result.current, result.current_by_mode) == (None, {"a": 2, "b": 4})
    result = qps.loads(MODES).solve_for("p", 10, set={"mode": "a", "q": 2})
    assert (result.intervals[0].to, result.current) == (5, 2)
    scenario = MODES + "scenario one { mode = a; q = 4 }\n"
    assert qps.loads(scenario).solve_for("p", 10, "one").intervals[0].to == 2.5


# -- on the command line --------------------------------------------------------------


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("s.qps").write_text(PLACES.replace("component each_byte { cpu 1 us/byte }\n", ""))
    return "s.qps"


Run = tuple[int, str, str]


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Run:
    status = main(["solve", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


REQUIRED = "panels must be at least 41 (40.5 before rounding; below that, host CPU utilization exceeds its limit)"


@pytest.mark.parametrize(
    ("arguments", "now"),
    [([], 60), (["--format", "text"], 60), (["--set", "panels = 70"], 70)],
)
def test_the_command_prints_the_answer(
    spec: str, arguments: list[str], now: int, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = _run(capsys, spec, "--for", "panels", "--users", "N = 81", *arguments)
    assert (status, err) == (0, "")
    assert " ".join(out.split()).endswith(
        f"Required {REQUIRED} Current {now} Accuracy exact for this model"
    )
    _, out, _ = _run(capsys, spec, "--for", "panels", "--users", "81", "--format", "markdown")
    assert f"- **Required:** {REQUIRED}\n- **Current:** 60\n" in out


def test_json_holds_the_keys_of_the_contract(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = _run(capsys, spec, "--for", "panels", "--users", "N=81", "--format", "json")
    assert status == 0
    assert json.loads(out) == {
        "schema": "qps/inverse/3",
        "file": "s.qps",
        "parameter": "panels",
        "population": {"N": 81},
        "unit": "",
        "current": 60,
        "current_by_mode": {},
        "elastic": False,
        "whole_numbers": True,
        "range": [1, 60_000_000],
        "answer": "81 users: panels must be at least 41 (40.5 before rounding; below that, host.cpu.utilization exceeds its limit). "
        "Currently 60.",
        "intervals": [
            {
                "from": 41,
                "to": 60_000_000,
                "fails_below": "host.cpu.utilization",
                "fails_above": None,
                "mode_below": None,
                "mode_above": None,
                "from_is_open": False,
                "to_is_open": False,
                "unrounded": [40.5, 60_000_000],
                "from_known": {"kind": "exact", "reasons": []},
                "to_known": {"kind": "exact", "reasons": []},
            }
        ],
        "fails": [],
        "fails_throughout": False,
        "known": {"kind": "exact", "reasons": []},
        "nominal_inputs": [],
    }


def test_no_value_at_all_is_a_no(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(spec).read_text().replace("panels = 60", "panels = 30 in 1..40")
    Path(spec).write_text(text)
    arguments = [spec, "--for", "panels", "--users", "N = 81"]
    status, out, err = _run(capsys, *arguments)
    assert (status, err) == (1, "")
    assert (
        "Required no value of panels supports 81 users (searched 1 to 40, its full range): "
        "host CPU utilization exceeds its limit for every value Current 30 "
    ) in " ".join(out.split())
    status, out, _ = _run(capsys, *arguments, "--format", "json")
    assert status == 1
    assert json.loads(out)["fails"] == [
        {"requirement": "host.cpu.utilization", "mode": None, "refused": False}
    ]


# arguments, and what standard error says
WRONG = [
    (["--for", "panels"], "`--for` needs the population to support"),
    (
        ["--for", "panels", "--users", "N = 2..9"],
        "`--users` takes one number of users, not `N = 2..9`",
    ),
    (
        ["--for", "panels", "--users", "panels = 9"],
        "`--users` sets the population, which is `N`, not `panels`",
    ),
    (["--for", "panels", "--users", "M = 9"], "which is `N`, not `M`"),
    (["--for", "panels", "--users", ""], "--users:1:"),
    (["--for", "panels", "--users", "N = 0"], "--users:1:"),
    (["--for", "panels", "--users", "N = 2.5"], "--users:1:"),
    (["--for", "panels", "--users", "N = 9 ms"], "--users:1:"),
    (["--for", "panels", "--users", "N = 900"], "N = 900 is outside the range 1 to 100"),
    (["--for", "pannels", "--users", "N = 9"], "did you mean `panels`?"),
    (["--for", "", "--users", "N = 9"], "unknown number ``"),
    (["--for", "N", "--users", "N = 9"], "`N` is the population"),
    (
        ["--for", "panels", "--users", "N = 9", "--set", "panels = 2.5"],
        "must be a whole number above zero",
    ),
    (["--for", "panels", "--users", "N = 9", "--scenario", "none"], "no scenario named `none`"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
@pytest.mark.parametrize("kind", ["text", "json"])
def test_a_wrong_question_ends_with_2_and_says_why(
    spec: str, arguments: list[str], said: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = _run(capsys, spec, *arguments, "--format", kind)
    assert (status, out) == (2, "")
    assert said in err
    assert "help: " in err
