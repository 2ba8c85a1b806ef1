"""Drift of demands per product of columns, scaled to another machine, or with a curve."""

from __future__ import annotations

import json
import random
from math import exp
from pathlib import Path

import pytest

from helpers.measured.drift_runs import (
    FIXED,
    OCTET,
    REQUEST,
    runs,
    write,
)
from qps.cli import main

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
