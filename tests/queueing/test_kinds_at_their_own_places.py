"""Kinds of users of whom each has a node of its own: no place is that of the mean of all kinds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qps.cli import main

_GATES = """
users N in 1..200
kinds tenant of users {{ light 70 %; medium 20 %; heavy 10 % }}
param pace by tenant {{ light {light} request/s; medium 80 request/s; heavy 120 request/s }}
machine bucket {{ tokens 1 core, queueing md1 room 20 }}
machine server {{ cpu 64 core, queueing mmc }}
network lan {{ propagation 0 ms }}
component token {{ tokens 10 ms/request }}
component work  {{ cpu 5 ms/request }}
topology {{ node gate = bucket * {gates}; node api = server; link l = lan between gate, api }}
stream calls for each gate {{
  traffic {pace}, 1 kB/request
  at gate {{ token }}
  over l
  at api {{ work }}
}}
require {{ calls.loss <= 5 %; api.cpu.utilization <= 80 % }}
"""


def reasons(text: str, capsys: pytest.CaptureFixture[str], spec: Path) -> str:
    """Return why the loss of calls is known as it is."""
    spec.write_text(text, encoding="utf-8")
    main(["explain", str(spec), "calls.loss", "--format", "json"])
    return json.dumps(json.loads(capsys.readouterr().out))


def test_losses_of_a_mean_kind_state_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Simulated, 4.8 % are lost of all, and 16.7 % of the heavy; of a mean user, hardly any."""
    text = _GATES.format(light=20, gates="N", pace="pace")
    found = reasons(text, capsys, tmp_path / "gate.qps")
    assert "each place of `gate.tokens` has users of one kind" in found
    main(["solve", str(tmp_path / "gate.qps"), "--no-advice"])
    printed = capsys.readouterr().out
    assert "Unverified" in printed
    assert "loss ± " not in printed


@pytest.mark.parametrize(
    ("gates", "pace"), [("N", "50 request/s"), ("1", "pace")], ids=["alike", "one for all"]
)
def test_where_no_place_differs_nothing_is_averaged(
    gates: str, pace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = _GATES.format(light=20, gates=gates, pace=pace)
    assert "has users of one kind" not in reasons(text, capsys, tmp_path / "gate.qps")
