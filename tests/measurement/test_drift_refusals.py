"""Wrong requests, runs and specs of `qps test --observed`, each with its message."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from helpers.measured.drift_runs import (
    runs,
    spec,
)
from qps.cli import main


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
