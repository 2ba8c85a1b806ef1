"""Near the limit, random variation decides whether a system returns by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from qps.cli import main

RESTART = """
users shoppers in 1..50_000
machine vm  { cpu 4 core, queueing mmc }
machine big { cpu 16 core, queueing mmc }
network lan_ { switched; rate 10 Gbit/s }
component page  { cpu 40 ms/request }
component query { cpu 150 ms/request }
topology {
  node web = vm * 4
  node db  = big
  link lan = lan_ between web, db
}
cache hits { items 20_000; zipf 0.9; size 5_000 }
stream browse for each user {
  traffic 0.1 request/s, 2 kB/request
  event hit = hits
  at web { page; not hit: call db { query } }
}
retry browse { timeout 2 s; retries 3; backoff 500 ms }
incident restart { empty hits }
"""


@pytest.mark.parametrize(
    ("at", "status", "over"),
    [
        (2_000, 1, "may or may not be over by itself"),  # two of five simulations returned,
        (1_850, 0, "by itself"),  # three of three,
        (2_300, 1, "not over by itself (metastable)"),  # none of two
    ],
)
def test_a_cache_restarts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], at: int, status: int, over: str
) -> None:
    file = tmp_path / "cold.qps"
    file.write_text(RESTART)
    assert main(["incident", str(file), "--at", str(at), "--no-advice"]) == status
    assert over in capsys.readouterr().out
