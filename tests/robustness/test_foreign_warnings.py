"""Odd numbers: what numpy would warn of on the user's screen is answered, refused or prevented.

Every warning is an error here, so that one that no code of ours has thought of is a fault (status
3) instead of a line of somebody else's program.
"""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import pytest

from helpers.nightly import nightly
from qps.cli import main

pytest.importorskip("pyarrow")

SPEC = """users N in 1..{users}
param cost = {cost} ms/request {spread}
param pace = {pace} request/s
param off = {off} ms
machine m {{ cpu {cores} core{queueing}; price {price} $ }}
machine c {{ }}
network w {{ switched; rate {rate} Mbit/s{line} }}
component a {{ cpu cost; delay off }}
topology {{
  node web = m * 2
  node b = c * N
  link wan = w between web, b
}}
stream s for each b {{
  traffic pace, {size} kB/request
  at web {{ a }}
  over wan
  at b {{ }}
}}
require {{ {limit} }}
matrix many {{ cost in [{cost} ms/request, {other} ms/request]; web in [m * 1, m * 1000] }}
expect it "holds" {{ largest_acceptable >= 1; source model "none" }}
"""
ORDINARY = ("0.01", "0.1", "0.5", "1", "2", "5", "10", "100")
ODD = ("1e-300", "1e-30", "1e-9", "0.001", "7", "1e9", "1e30", "1e300")
QUEUEING = ("", "mm1", "mmc", "md1", "mg1 cv 1.2", "mm1 room 5", "mgc cv 9 room 3")
LIMITS = (
    "web.cpu.load <= 75 %", "s.latency <= 1 s", "s.latency <= 1e-300 s",
    "quantile(s.latency, 99.9999 %) <= 1e300 s", "quantile(s.latency, 50 %) <= 1 ms",
)  # fmt: skip
COMMANDS = (
    ("solve", "--all"),
    ("matrix", "-o", "rows.parquet"),
    ("matrix", "-o", "rows.csv"),
    ("test",),
)


def odd_spec(seed: int) -> str:
    """Return a spec in which some numbers are what nobody would write."""
    made = random.Random(seed)

    def number() -> str:
        return made.choice(ODD if made.random() < 0.25 else ORDINARY)

    queueing, line = made.choice(QUEUEING), made.choice(("", "mm1", "mm1 room 50", "periodic"))
    return SPEC.format(
        users=made.choice(("1", "2", "1000", "1_000_000")),
        cost=number(),
        other=f"{number()}1",
        spread=made.choice(("", "", "+- 10 %", "+- 99 %")),
        pace=number(),
        off=number(),
        cores=made.choice(("0.5", "1", "4", "1e6")),
        queueing=f", queueing {queueing}" if queueing else "",
        price=number(),
        rate=number(),
        line=f"; queueing {line}" if line else "",
        size=number(),
        limit=made.choice(LIMITS),
    )


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "seed", [*range(1, 5), *(pytest.param(seed, marks=nightly) for seed in range(5, 27))]
)
def test_no_warning_of_others_reaches_the_screen(
    seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("odd.qps").write_text(odd_spec(seed), encoding="utf-8")
    for command, *words in COMMANDS:
        for path in ("rows.parquet", "rows.csv"):
            Path(path).unlink(missing_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            status = main([command, "odd.qps", *words])
        output = capsys.readouterr()
        assert status in (0, 1, 2), f"{command}: {output.err}"
        assert "Warning" not in output.err


@pytest.mark.parametrize("cells", [("1e-300", "1e15"), ("0", "0"), ("5", "5"), ("-1", "2")])
def test_no_warning_of_others_about_a_table(
    cells: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(k, cells[k % 2], str(1 + k)) for k in range(12)]
    text = "request/s,byte/s,cpu in %\n" + "".join(f"{1 + a},{b},{c}\n" for a, b, c in rows)
    Path("odd.csv").write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["fit", "odd.csv", "--cores", "4"]) in (0, 1, 2)
    assert "Warning" not in capsys.readouterr().err


TINY = """users N in 1..1000
param pace = 1e-9 request/s
machine m {{ cpu 1 core{queueing} }}
component a {{ cpu {cost} s/request }}
topology {{ node web = m }}
stream s {{ traffic N * pace; at web {{ a }} }}
require {{ quantile(s.latency, 99 %) <= 1 s }}
"""


@pytest.mark.parametrize("queueing", ["", *(f", queueing {one}" for one in QUEUEING[1:])])
@pytest.mark.parametrize("cost", ["1e-300", pytest.param("1e-9", marks=nightly), "1e300"])
@pytest.mark.parametrize("command", ["solve", pytest.param("test", marks=nightly)])
def test_loads_that_floats_round_to_zero_have_answers(
    queueing: str, cost: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("tiny.qps").write_text(TINY.format(queueing=queueing, cost=cost), encoding="utf-8")
    assert main([command, "tiny.qps"]) in (0, 1, 2), capsys.readouterr().err
