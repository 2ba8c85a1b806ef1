"""What stands behind the table of a fit: products of columns, and no idle utilization."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.cli import main
from qps.compiler.diagnostics import codes
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.pipeline import check_file
from qps.solver.answers.worst_mode import solve_model

STEP, TOKEN, READ = 20e-3, 0.1e-3, 50e-9
"""Seconds of a GPU for a step, a token in it, and each token of its context."""

GPU = """users N in 1..100_000
unit token
param batch = 32
param context = 1000
machine gpu { cpu 1 core, idle 0 % }
component decode {
  cpu fit "gpu.csv" per token / batch + per token + per token * context measured on gpu
}
topology { node server = gpu }
stream answers in all { traffic N * 1 token/s; at server { decode } }
target cpu 80 %
"""
DATABASE = """users N in 1..100_000
machine vm { cpu 2 core, idle 0 % }
component serve { cpu fit "runs.csv" with idle = 0 % measured on vm }
topology { node server = vm }
stream pages in all { traffic N * 1 request/s; at server { serve } }
target cpu 80 %
"""


def gpu_table(noise: float = 0.0) -> str:
    rows = ["served in token/s,batch,context"]
    sign = 1
    for batch in (4, 16, 64, 256):
        for context in (100, 1000, 4000):
            cost = STEP / batch + TOKEN + READ * context
            rows.append(f"{(1 + sign * noise) / cost:.6f},{batch},{context}")
            sign = -sign
    return "\n".join(rows) + "\n"


def messages(folder: Path, text: str) -> list[str]:
    (folder / "spec.qps").write_text(text)
    return [d.message for d in check_file(folder / "spec.qps").diagnostics]


def capacity(folder: Path, text: str) -> int:
    (folder / "spec.qps").write_text(text)
    spec = check_file(folder / "spec.qps").value
    assert spec is not None
    found = solve_model(spec.model, spec.configuration()).capacity
    assert found is not None
    return found


def test_costs_per_products_of_columns_are_those_of_the_law(tmp_path: Path) -> None:
    (tmp_path / "gpu.csv").write_text(gpu_table())
    expected = 0.8 / (STEP / 32 + TOKEN + READ * 1000)
    assert capacity(tmp_path, GPU) == pytest.approx(expected, rel=1e-3)
    larger = GPU.replace("batch = 32", "batch = 128").replace("context = 1000", "context = 3000")
    expected = 0.8 / (STEP / 128 + TOKEN + READ * 3000)
    assert capacity(tmp_path, larger) == pytest.approx(expected, rel=1e-3)


def test_columns_may_be_arguments_with_units_and_powers(tmp_path: Path) -> None:
    """A join of two sides costs their product: 3 ns for each two rows, and 5 us for each call."""
    rows = ["cpu in %,request/s,rows,size in kB"]
    for left, size in ((10, 1), (100, 1), (200, 4), (400, 2), (50, 8)):
        load = 100 * (5e-6 + 3e-9 * left**2 + 2e-6 * size) * 50
        rows.append(f"{load:.9f},50,{left},{size}")
    (tmp_path / "join.csv").write_text("\n".join(rows) + "\n")
    text = """users N in 1..1_000_000
machine vm { cpu 1 core, idle 0 % }
component join(rows, size) {
  cpu fit "join.csv" per request + per request * rows^2
    + per request * size with idle = 0 % measured on vm
}
topology { node server = vm }
stream calls in all { traffic N * 1 request/s; at server { join(300, 4 kB) } }
target cpu 50 %
"""
    expected = 0.5 / (5e-6 + 3e-9 * 300**2 + 2e-6 * 4)
    assert capacity(tmp_path, text) == pytest.approx(expected, rel=1e-3)


@given(st.floats(1e-5, 1e-2), st.floats(1e-6, 1e-3), st.sampled_from([1, 2]))
def test_a_law_of_two_columns_is_recovered(step: float, item: float, power: int) -> None:
    from qps.compiler.check.model.fits.fit_requests import fitted_to

    batches = (1, 3, 7, 20, 55)
    rates = [1 / (step / batch**power + item) for batch in batches]
    rows = [f"{rate:.12g},{batch}" for rate, batch in zip(rates, batches, strict=True)]
    rows.insert(0, "served in request/s,batch")
    per = ["request", f"request / batch^{power}" if power > 1 else "request / batch"]
    found = fitted_to(
        "\n".join(rows), "runs.csv", cores="1", resource=None, has_fixed=True, is_served=True,
        units=(), per=per,
    )  # fmt: skip
    costs = [float(term.value) for term in found.fit.terms]
    assert costs == pytest.approx([item, step], rel=1e-5)


def test_a_fit_through_the_origin_is_that_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text("cpu in %,request/s\n11,1000\n19,2000\n43,4000\n78,8000\n")
    assert main(["fit", "runs.csv", "--cores", "2", "--no-fixed", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (cost,) = found["coefficients"]
    assert capacity(tmp_path, DATABASE) == int(0.8 * 2 / cost["value"])
    assert "with idle = 0 % measured on tested" in found["component"]
    with_idle = DATABASE.replace(" with idle = 0 %", "").replace("idle 0 %", 'idle fit "runs.csv"')
    assert capacity(tmp_path, with_idle) != capacity(tmp_path, DATABASE)


def test_the_idle_utilization_of_another_fit_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("cpu in %,request/s\n11,1000\n19,2000\n43,4000\n78,8000\n")
    mixed = DATABASE.replace("core, idle 0 %", 'core, idle fit "runs.csv"')
    said = "the idle utilization of `vm` is that of another fit to `runs.csv`"
    assert any(one.startswith(said) for one in messages(tmp_path, mixed))
    for same in (DATABASE, mixed.replace(" with idle = 0 %", "")):
        assert not any("idle" in one for one in messages(tmp_path, same))


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("per request with idle = 3 %", "a fit either finds the idle utilization or has none"),
        ("with cores = 0", "a fit has no number `cores` that can be set"),
        ("per size", "`size` is not an item that a service demand can be per"),
        ("per request * 3", "`3` is not a column that a service demand can be fitted to"),
        ("per request * size^9", "is not a column that a service demand can be fitted to"),
        ("per packet", "`runs.csv` has no column with a rate of `packet`"),
        ("per request * sizes", "`runs.csv` has no column `sizes`"),
        ("per request * load", "unknown name `load`"),
        ("per request * size", "`size`, as the column of the table is, must be"),
        ("per request + per request", "`per request` is specified twice"),
        ("per request / zero", "line 2: `zero` is 0, and the fit divides by it"),
        ("by request per request", "a fit by clients or cores has neither `per`, `with` nor `to`"),
    ],
)
def test_a_clause_that_cannot_be_is_reported_with_its_place(
    clause: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "runs.csv").write_text(
        "cpu in %,request/s,size in kB,load,zero\n11,1000,1,3,0\n19,2000,4,4,1\n43,4000,2,9,2\n"
        "78,8000,3,1,4\n"
    )
    text = DATABASE.replace("with idle = 0 %", clause) + "param size = 3\nparam zero = 1\n"
    found = messages(tmp_path, text)
    assert any(message in one for one in found), found


def test_values_of_columns_beyond_those_measured_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "gpu.csv").write_text(gpu_table(0.02))

    def warned(text: str) -> list[str]:
        (tmp_path / "spec.qps").write_text(text)
        spec = check_file(tmp_path / "spec.qps").value
        assert spec is not None
        found = solve_model(spec.model, spec.configuration()).warnings
        return [d.message for d in found if d.code is codes.BEYOND_MEASURED]

    assert warned(GPU) == []
    (beyond,) = warned(GPU.replace("context = 1000", "context = 12_000"))
    assert "`decode` runs with `context` = 12,000 at server.cpu" in beyond
    assert "100 to 4,000 were measured (`gpu.csv`)" in beyond
    (below,) = warned(GPU.replace("batch = 32", "batch = 1"))
    assert "`batch` = 1" in below


def test_the_command_fits_products_and_prints_a_component_with_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpu.csv").write_text(gpu_table(0.02))
    per = ["--per", "token / batch", "--per", "token", "--per", "token * context"]
    assert main(["fit", "gpu.csv", "--unit", "token", "--cores", "1", *per]) == 0
    out = capsys.readouterr().out
    assert "ns per token * context" in out
    pasted = out[out.index("unit token") :]
    assert "component step(batch, context) {" in pasted
    rest = GPU.partition("topology")[2].replace("{ decode }", "{ step(32, 1000) }")
    rest = rest.replace("= gpu", "= tested")
    text = "users N in 1..100_000\n" + pasted + "topology" + rest
    assert capacity(tmp_path, text) == capacity(tmp_path, GPU)
    assert main(["fit", "gpu.csv", "--unit", "token", "--cores", "1", "--per", "3 token"]) == 2
    assert "cannot be fitted" not in capsys.readouterr().out


@pytest.mark.parametrize("flags", [[], ["--per", "packet"], ["--per", "packet", "--no-fixed"]])
def test_a_pasted_component_has_the_interval_of_the_fit(
    flags: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "relay.csv").write_text(
        "cpu in %,packet/s,byte/s\n28.8,16000,3072000\n70.2,48000,9216000\n"
        "31.3,18000,17280000\n78.5,54000,51840000\n"
    )
    assert main(["fit", "relay.csv", "--cores", "2", *flags]) == 0
    out = capsys.readouterr().out
    pasted = out[out.index("machine tested") :]
    clause = " per packet" * ("--per" in flags) + " with idle = 0 %" * ("--no-fixed" in flags)
    idle = "0 %" if "--no-fixed" in flags else f'fit "relay.csv"{clause}'
    stated = f"""machine tested {{ cpu 2 core, idle {idle} }}
component step {{ cpu fit "relay.csv"{clause} measured on tested }}
"""
    answers = []
    for text in (pasted, stated):
        (tmp_path / "spec.qps").write_text(
            f"users N in 1..5000\n{text}topology {{ node server = tested }}\n"
            "stream voice for each user { traffic 100 packet/s, 172 byte/packet; "
            "at server { step } }\nrequire { server.cpu.utilization <= 75 % }\n"
        )
        assert main(["solve", "spec.qps", "--no-advice", "--format", "json"]) == 0
        answers.append(json.loads(capsys.readouterr().out)["uncertainty"])
    assert answers[0] == answers[1]
    assert answers[0]["interval"]["least"] < answers[0]["interval"]["most"]


def test_a_table_without_the_column_is_no_traceback() -> None:
    from qps.compiler.check.model.fits.fit_requests import fitted_to

    with pytest.raises(DataError, match="no column `batch`"):
        fitted_to(
            "cpu in %,request/s\n1,2\n3,4\n", "runs.csv", cores="1", resource=None, has_fixed=True,
            is_served=False, units=(), per=["request / batch"],
        )  # fmt: skip


BY_RATE = """users N in 1..1_000_000
let rate = N * 1 request/s
param work = 8 us/request
param wake = 12 us/request
machine vm { cpu 1 core, idle 0 % }
component serve { cpu work measured on vm }
component wake_up { cpu wake measured on vm }
topology { node server = vm }
stream pages in all { traffic rate; at server { STEPS } }
target cpu 60 %
"""


def test_a_cost_that_falls_as_a_power_of_the_rate_is_a_repetition(tmp_path: Path) -> None:
    text = BY_RATE.replace("STEPS", "serve * (rate / (4000 request/s))^-0.3")
    found = capacity(tmp_path, text)
    assert found * 8e-6 * (found / 4000) ** -0.3 == pytest.approx(0.6, rel=1e-4)


def test_a_cost_per_wake_up_is_that_of_an_idle_server(tmp_path: Path) -> None:
    """Utilization = rate * (work + wake * (1 - utilization))."""
    steps = "(max(0, (1 - work * rate) / (1 + wake * rate))): wake_up; serve"
    found = capacity(tmp_path, BY_RATE.replace("STEPS", steps))
    assert found * (8e-6 + 12e-6 * (1 - 0.6)) == pytest.approx(0.6, rel=1e-4)
