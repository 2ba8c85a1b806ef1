"""Is a system still what its spec says? Costs of new runs against those stated."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import exp
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from qps.cli import main
from qps.solver.claims.chances import MeanDifference, f_chance, t_chance

Costs = Callable[[float], tuple[float, float, float]]
START = datetime(2026, 11, 9, tzinfo=UTC)
FIXED, REQUEST, OCTET = 0.02, 300e-6, 20e-9
"""A share of four cores; seconds of one for each request, and for each byte."""


def still(_: float) -> tuple[float, float, float]:
    return FIXED, REQUEST, OCTET


def dearer(by: float, since: float = 0.5) -> Costs:
    """Return costs of which that of a request is more from some part of the time on."""
    return lambda t: (FIXED, REQUEST * (1 + by * (t >= since)), OCTET)


def runs(
    seed: int,
    path: Path,
    costs: Costs = still,
    *,
    count: int = 120,
    days: int = 14,
    noise: float = 0.03,
    daily: float = 0.0,
    without: tuple[str, ...] = (),
) -> Path:
    """Write runs as `qps observe prometheus` does: rates differ, so does each day by its own."""
    drawn = random.Random(seed)
    of_day = [exp(drawn.gauss(0, daily)) for _ in range(days)]
    rows = []
    for part in sorted(drawn.random() for _ in range(count)):
        rate = 200 + 3000 * drawn.random()
        octets = rate * 10_000 * exp(drawn.uniform(-1, 0.7))
        fixed, request, octet = costs(part)
        at = START + timedelta(days=part * days)
        load = (fixed + (request * rate + octet * octets) / 4) * of_day[int(part * days)]
        rows.append(
            {
                "time": at.isoformat(),
                "day": at.date().isoformat(),
                "cpu in %": f"{100 * load * exp(drawn.gauss(0, noise)):.6f}",
                "request/s": f"{rate:.4f}",
                "byte/s": f"{octets:.1f}",
            }
        )
    stored = [heading for heading in rows[0] if heading not in without]
    write(path, [{heading: row[heading] for heading in stored} for row in rows])
    return path


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


SPEC = """\"\"\"A site.\"\"\"
users N in 1..10_000
machine server {{ cpu 4 core{idle} }}
machine laptop {{ }}
network uplink {{ switched; rate 10 Gbit/s }}
{components}
topology {{ node web = server; node browser = laptop * N; link wan = uplink between web, browser }}
stream replies for each browser {{
  traffic 0.1 request/s, 10 kB/request
  at web {{ {steps} }}
  over wan
  at browser {{ }}
}}
require {{ web.cpu.load <= 75 % }}
"""


def spec(
    folder: Path,
    components: str = "component answer { cpu 300 us/request + 20 ns/byte measured on server }",
    idle: str = ", idle 2 %",
    steps: str = "answer",
) -> str:
    path = folder / "site.qps"
    path.write_text(SPEC.format(components=components, idle=idle, steps=steps), encoding="utf-8")
    return str(path)


def fitted_spec(folder: Path, **how: Any) -> str:
    runs(1000, folder / "web.csv", **how)
    component = 'component answer { cpu fit "web.csv" measured on server }'
    return spec(folder, component, ', idle fit "web.csv"')


def queried(
    capsys: pytest.CaptureFixture[str], path: str, observed: Path, *more: str
) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    words = ["test", path, "--observed", str(observed), "--format", "json", "-q", *more]
    status = main(words)
    output = capsys.readouterr()
    assert output.out, output.err
    return status, json.loads(output.out)


# -- chances ------------------------------------------------------------------------------------


@given(st.floats(0, 60), st.floats(0.5, 500))
def test_chances_of_students_distribution(t: float, freedom: float) -> None:
    assert t_chance(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-6, abs=1e-12)


@given(st.floats(0, 100), st.integers(1, 6), st.floats(0.5, 500))
def test_chances_of_the_f_distribution(value: float, above: int, below: float) -> None:
    expected = stats.f.sf(value, above, below)
    assert f_chance(value, above, below) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(st.integers(0, 2**32), st.integers(3, 20), st.integers(3, 20))
def test_differences_are_judged_as_by_welch(seed: int, one: int, other: int) -> None:
    drawn = random.Random(seed)
    a = [drawn.gauss(0, 1) for _ in range(one)]
    b = [drawn.gauss(0.5, 3) for _ in range(other)]
    means, variances = zip(
        *((sum(x) / len(x), stats.tvar(x) / len(x)) for x in (a, b)), strict=True
    )
    found = MeanDifference(
        means[0] - means[1], 1.0, (variances[0], one - 1), (variances[1], other - 1)
    )
    assert found.by_chance == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)


# -- what is told -------------------------------------------------------------------------------


@pytest.mark.parametrize("is_fitted", [True, False])
def test_what_did_not_move_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_fitted: bool
) -> None:
    # One in a hundred may be told by chance; what is asked several times makes it fewer.
    path = fitted_spec(tmp_path, daily=0.03) if is_fitted else spec(tmp_path)
    found = []
    for seed in range(20):
        observed = runs(seed, tmp_path / "new.csv", daily=0.03)
        status, result = queried(capsys, path, observed, "--tolerance", "0 %", "--chance", "5 %")
        assert status == int(result["moved"])
        found.append(result["moved"])
        assert 0 <= result["by_chance"] <= 1
    assert sum(found) <= 2


@pytest.mark.parametrize("is_fitted", [True, False])
@pytest.mark.parametrize("without", [(), ("day",)])
def test_a_cost_that_moved_is_named_with_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_fitted: bool, without: tuple[str, ...]
) -> None:
    path = fitted_spec(tmp_path) if is_fitted else spec(tmp_path)
    observed = runs(5, tmp_path / "new.csv", dearer(0.4), without=without)
    status, result = queried(capsys, path, observed)
    assert status == 1
    by_item = {cost["per"]: cost for cost in result["costs"]}
    request = by_item["request"]
    assert request["moved"]
    assert request["relative_difference"] == pytest.approx(0.4, abs=0.1)
    assert abs(request["difference"] - 0.4 * REQUEST) < request["half_width"]
    assert [cost["per"] for cost in result["costs"] if cost["moved"]] == ["request"]
    middle = START + timedelta(days=7)
    since = {key: result["since"][key] for key in ("earliest", "at", "latest")}
    times = {key: datetime.fromisoformat(at) for key, at in since.items()}
    assert times["earliest"] <= middle <= times["latest"] < middle + timedelta(days=1)
    assert not result["since"]["may_be_before"]


def test_the_order_of_the_rows_does_not_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = spec(tmp_path)
    observed = runs(5, tmp_path / "new.csv", dearer(0.3))
    first = queried(capsys, path, observed)
    head, *lines = observed.read_text(encoding="utf-8").splitlines()
    random.Random(1).shuffle(lines)
    observed.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    assert queried(capsys, path, observed) == first


def test_loads_in_cores_are_those_of_the_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = spec(tmp_path)
    observed = runs(5, tmp_path / "new.csv", dearer(0.3))
    status, result = queried(capsys, path, observed)
    rows = list(csv.DictReader(observed.read_text(encoding="utf-8").splitlines()))
    for row in rows:
        row["cpu in core"] = f"{float(row.pop('cpu in %')) * 0.04:.10f}"
    write(observed, rows)
    in_cores = queried(capsys, path, observed)
    assert in_cores[0] == status == 1
    assert in_cores[1]["costs"] == [pytest.approx(cost) for cost in result["costs"]]


def test_what_moved_before_the_runs_may_have_begun_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    observed = runs(6, tmp_path / "new.csv", dearer(0.3, since=0))
    status, result = queried(capsys, spec(tmp_path), observed)
    assert (status, result["since"]["may_be_before"]) == (1, True)
    assert result["compared_from"] is None


def test_what_is_always_there_is_a_cost_like_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    observed = runs(7, tmp_path / "new.csv", lambda _: (0.06, REQUEST, OCTET))
    status, result = queried(capsys, spec(tmp_path), observed)
    assert status == 1
    assert [cost["per"] for cost in result["costs"] if cost["moved"]] == [None]
    # Where the spec says nothing of it, it is nobody's claim.
    status, result = queried(capsys, spec(tmp_path, idle=""), observed)
    assert status == 0
    assert [cost["per"] for cost in result["costs"]] == ["request", "bit"]


def test_little_is_let_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    observed = runs(8, tmp_path / "new.csv", dearer(0.05, since=0), noise=0.002)
    status, result = queried(capsys, spec(tmp_path), observed)
    assert (status, result["moved"]) == (0, False)
    assert result["by_chance"] < 1e-6
    assert "within the tolerance of 5 %" in result["text"][0]
    status, result = queried(capsys, spec(tmp_path), observed, "--tolerance", "1 %")
    assert (status, result["moved"]) == (1, True)


def test_numbers_that_are_uncertain_may_be_off_by_as_much(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    observed = runs(9, tmp_path / "new.csv", dearer(0.2, since=0))
    cost = "component answer {{ cpu (300 us/request{}) + 20 ns/byte measured on server }}"
    assert queried(capsys, spec(tmp_path, cost.format("")), observed)[0] == 1
    assert queried(capsys, spec(tmp_path, cost.format(" +- 30 %")), observed)[0] == 0


@pytest.mark.parametrize(("at", "is_reported"), [("70..80 %", True), ("5..80 %", False)])
def test_runs_at_other_loads_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], at: str, is_reported: bool
) -> None:
    cost = f"component answer {{ cpu 300 us/request + 20 ns/byte measured on server at {at} load }}"
    _, result = queried(capsys, spec(tmp_path, cost), runs(9, tmp_path / "new.csv"))
    assert (
        any("where the service demands were measured" in line for line in result["text"])
        is is_reported
    )


def test_rates_that_move_together_do_not_separate_costs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    observed = runs(10, tmp_path / "new.csv", dearer(0.3, since=0), noise=0.02)
    rows = list(csv.DictReader(observed.read_text(encoding="utf-8").splitlines()))
    drawn = random.Random(2)
    for row in rows:  # each request has nearly as many bytes as any other
        rate = float(row["request/s"])
        octets = rate * 10_000 * exp(drawn.gauss(0, 0.001))
        load = FIXED + (1.3 * REQUEST * rate + OCTET * octets) / 4
        row |= {"byte/s": f"{octets:.1f}", "cpu in %": f"{100 * load * exp(drawn.gauss(0, 0.02))}"}
    write(observed, rows)
    status, result = queried(capsys, spec(tmp_path), observed)
    assert status == 1
    assert not any(cost["moved"] for cost in result["costs"])
    assert {one["per"] for one in result["explained_alone_by"]} == {"request", "bit"}
    assert any("to separate them" in line for line in result["text"])


def test_costs_of_several_components_add_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = """
    component parse { cpu 100 us/request measured on server }
    component draw  { cpu 200 us/request + 20 ns/byte measured on server }
    """
    path = spec(tmp_path, both, steps="parse; draw")
    observed = runs(11, tmp_path / "new.csv")
    assert main(["test", path, "--observed", str(observed), "-q"]) == 2
    errors = capsys.readouterr().err
    assert "these runs may measure `draw` or `parse`" in errors
    assert "`--of draw` or `--of parse`; several are summed" in errors
    status, found = queried(capsys, path, observed, "--of", "parse", "--of", "draw")
    assert (status, found["components"]) == (0, ["parse", "draw"])
    stated = {cost["per"]: cost["stated"] for cost in found["costs"]}
    assert stated == pytest.approx({None: 0.02, "request": 300e-6, "bit": 20e-9 / 8})
    assert queried(capsys, path, observed, "--of", "draw")[0] == 1


def test_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spec(tmp_path)
    observed = runs(5, tmp_path / "new.csv", dearer(0.4))
    words = ["test", path, "--observed", str(observed), "-q", "--format"]
    capsys.readouterr()
    for form, signs in {
        "text": ["server.cpu (4 cores)", "120 rows", "DRIFT", "Since        2026-11-16"],
        "markdown": ["### ", "| request |", "service demand per request is 124 µs higher"],
        "github": [f"::error file={path},title=drift::Drift detected: "],
    }.items():
        assert main([*words, form]) == 1
        output = capsys.readouterr().out
        for sign in signs:
            assert sign in output, output
    assert main([*words, "junit"]) == 2
    assert "`--format junit` does not support `--observed`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (("--of", "anser"), "did you mean `answer`?"),
        (("--resource", "gpu"), "has no demand on"),
        (("--tolerance", "2"), "must be a percentage"),
        (("--tolerance", "x"), "is not"),
        (("--chance", "0 %"), "from 0.0001 % to 50 %"),
        (("--readers",), "takes exactly one spec"),
    ],
)
def test_wrong_requests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], expected: str
) -> None:
    observed = runs(5, tmp_path / "new.csv")
    assert main(["test", spec(tmp_path), "--observed", str(observed), *more]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--of", "--resource", "--tolerance", "--chance"])
def test_flags_that_go_with_runs(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", spec(tmp_path), flag, "1 %"]) == 2
    assert f"`{flag}` requires `--observed FILE.csv`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpu in %,request/s\n1,2\n", "has no column with a rate of `byte`"),
        ("cpu in %,packet/s\n1,2\n", "the runs count `packet`"),
        ("cpu in %,request/s,byte/s\n1,100,1000\n2,200,3000\n", "only 2 rows for 3 numbers"),
        (
            "cpu in %,request/s,byte/s\n1,10,10\n2,20,30\n4,30,90\n",
            "too few rows for confidence intervals",
        ),
        ("cpu in %,request/s,byte/s\n1,x,10\n", "is not a number"),
        ("cpu in %\n1\n", "the runs count no items"),
        ("", "has no header with column names"),
    ],
)
def test_runs_that_are_not_sufficient(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, expected: str
) -> None:
    observed = tmp_path / "new.csv"
    observed.write_text(text, encoding="utf-8")
    more = ["--of", "answer"] if "no column" in expected else []
    assert main(["test", spec(tmp_path), "--observed", str(observed), *more]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    ("component", "expected"),
    [
        ("component answer { cpu 300 us/request + 3 % }", "has a demand that is not per item"),
        ("component answer { delay 3 ms }", "has no demand on `cpu`"),
    ],
)
def test_specs_that_are_not_sufficient(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], component: str, expected: str
) -> None:
    observed = runs(5, tmp_path / "new.csv")
    path = spec(tmp_path, component)
    assert main(["test", path, "--observed", str(observed), "--of", "answer"]) == 2
    assert expected in capsys.readouterr().err


DECODER = """users N in 1..10_000
unit token
param batch = 32 in 1..256
machine gpu { cpu 1 core, idle 0 % }
component decode { cpu fit "decode.csv" per token / batch + per token measured on gpu }
topology { node server = gpu }
stream answers in all { traffic N * 1 token/s; at server { decode } }
"""


def decoded(path: Path, *, step: float, count: int, seed: int) -> Path:
    """Write runs of a decoder: a step costs so much for a batch, and 0.2 ms for each token."""
    drawn = random.Random(seed)
    rows = []
    for _ in range(count):
        batch, load = drawn.choice([4, 16, 64]), drawn.uniform(0.2, 0.9)
        rate = load / (step / batch + 2e-4)
        used = f"{100 * load * exp(drawn.gauss(0, 0.01)):.6f}"
        rows.append({"cpu in %": used, "token/s": f"{rate:.6f}", "batch": str(batch)})
    write(path, rows)
    return path


@pytest.mark.parametrize(("step", "has_moved"), [(5e-3, False), (8e-3, True)])
def test_demands_per_product_of_columns_are_compared(
    step: float, *, has_moved: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decoded(tmp_path / "decode.csv", step=5e-3, count=12, seed=1)
    observed = decoded(tmp_path / "new.csv", step=step, count=12, seed=2)
    (tmp_path / "decode.qps").write_text(DECODER)
    path = str(tmp_path / "decode.qps")
    assert main(["test", path, "--observed", str(observed), "--format", "json"]) == int(has_moved)
    found = json.loads(capsys.readouterr().out)
    (moved,) = [one["per"] for one in found["costs"] if one["moved"]] or [None]
    assert moved == ("token / batch" if has_moved else None)
    main(["test", path, "--observed", str(observed)])
    assert "token / batch" in capsys.readouterr().out


@pytest.mark.parametrize(("times", "has_moved"), [(0.5, False), (0.65, True)])
def test_demands_scaled_to_another_machine_are_compared(
    times: float, *, has_moved: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each item costs half as much on the other machine; 30 % more is no noise."""
    runs(1, tmp_path / "small.csv", count=20, noise=0.01, without=("time", "day"))
    large = lambda by: lambda _: (FIXED * by, REQUEST * by, OCTET * by)  # noqa: E731
    runs(2, tmp_path / "large.csv", large(0.5), count=3, noise=0.01, without=("time", "day"))
    observed = runs(3, tmp_path / "new.csv", large(times), count=20, noise=0.01)
    fit = 'fit "small.csv" to "large.csv"'
    (tmp_path / "site.qps").write_text(
        "users N in 1..100\n"
        f"machine vm {{ cpu 4 core, idle {fit} }}\n"
        f"component answer {{ cpu {fit} measured on vm }}\n"
        "topology { node server = vm }\n"
        "stream pages in all { traffic N * 1 request/s, 10 kB/request; at server { answer } }\n"
    )
    path = str(tmp_path / "site.qps")
    assert main(["test", path, "--observed", str(observed)]) == int(has_moved)
    assert ("DRIFT" in capsys.readouterr().out) == has_moved


def test_demands_with_a_curve_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "cpu in %,token/s,batch\n" + "".join(
        f"{100 * r * 1e-3 * r**-0.2:.6f},{r},{b}\n"
        for r, b in ((10, 1), (50, 2), (200, 4), (700, 9))
    )
    (tmp_path / "decode.csv").write_text(table)
    spec_text = DECODER.replace("per token / batch + per token", "per token * power(rate)")
    spec_text = spec_text.replace("param batch = 32 in 1..256", "let rate = N * 1 token/s")
    (tmp_path / "decode.qps").write_text(spec_text)
    observed = decoded(tmp_path / "new.csv", step=5e-3, count=12, seed=2)
    assert main(["test", str(tmp_path / "decode.qps"), "--observed", str(observed)]) == 2
    assert "a demand with a curve" in capsys.readouterr().err


def odd_table(seed: int) -> str:
    """Return a table as no machine has ever measured it."""
    drawn = random.Random(seed)
    extreme = ["0", "1", "1e-9", "1e12", "5", "17.25", "1e29", "3e-200", "100"]

    def rate() -> str:
        return (
            drawn.choice(extreme) if drawn.random() < 0.3 else f"{drawn.lognormvariate(3, 3):.6g}"
        )

    def load() -> str:
        usual = f"{min(100, drawn.lognormvariate(2, 1)):.5g}"
        return usual if drawn.random() < 0.95 else drawn.choice(["0", "100", "99.5"])

    times = ["2026-11-16", "2026-11-17T00:00Z", "2026-11-18T01:00+02:00", *["x"] * (seed % 2)]
    group = drawn.choice(["day", "run", "note"])
    lines = [f"time,{group},cpu in %,request/s,byte/s"]
    for _ in range(drawn.choice([3, 4, 5, 6, 8, 12, 30])):
        cells = [drawn.choice(times), drawn.choice("abcd"), load(), rate(), rate()]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("part", range(5))
def test_no_table_is_a_fault(part: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, observed = spec(tmp_path), tmp_path / "new.csv"
    found = set()
    for seed in range(20 * part, 20 * part + 20):
        observed.write_text(odd_table(seed), encoding="utf-8")
        found.add(main(["test", path, "--observed", str(observed), "-q", "--format", "json"]))
        output = capsys.readouterr()
        if output.out:
            assert 0 <= json.loads(output.out)["by_chance"] <= 1
    assert found <= {0, 1, 2}
    assert len(found) > 1


def test_since_when_is_reported_though_several_costs_moved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def all_dearer(part: float) -> tuple[float, float, float]:
        return (0.04, 1.3 * REQUEST, 1.6 * OCTET) if part > 0.5 else still(part)

    observed = runs(12, tmp_path / "new.csv", all_dearer, noise=0.02)
    status, result = queried(capsys, spec(tmp_path), observed)
    assert status == 1
    assert result["explained_alone_by"] == []
    middle = START + timedelta(days=7)
    times = {key: datetime.fromisoformat(result["since"][key]) for key in ("earliest", "latest")}
    assert times["earliest"] <= middle <= times["latest"]
    assert not any("no column" in line for line in result["text"])
    # Without times nobody can tell.
    observed = runs(12, observed, all_dearer, noise=0.02, without=("time", "day"))
    status, result = queried(capsys, spec(tmp_path), observed)
    assert (status, result["since"]) == (1, None)
    assert any("no column" in line for line in result["text"])
