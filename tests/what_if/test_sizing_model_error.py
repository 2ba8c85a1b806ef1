"""What supports a population by a sizing does so by the reliable capacity, or it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

import qps
from qps.cli import main
from what_if.sized_shop import SHOP, sized

POOL = """
users rps in 1..2_000
machine app_vm { cpu 4 core, queueing mmc; connections 20 connection }
machine db_vm  { io 10_000 core, queueing mmc }
network lan_   { propagation 0 ms }
component handle { cpu 12 ms/request }
component fast { io 4 ms/request }
component slow { io 400 ms/request }
topology {
  node app = app_vm
  node db = db_vm
  link lan = lan_ between app, db
}
stream page in all {
  traffic rps * 1 request/s, 2 kB/request
  at app {
    handle
    take connections
    call db { one of { 1 %: slow; else: fast } }
    give connections
  }
}
require { page.p99 <= 300 ms }
"""
TWICE = """
users N in 1..1_000
machine front { cpu 4 core, queueing mmc }
component page { cpu 20 ms/request }
component query { cpu 35 ms/request }
network wire { propagation 1 ms }
topology { node web = front; node db = front; link lan = wire between web, db }
stream ask for each user {
  traffic 1 request/s, 1 kB/request
  at web { page; call db { query }; call db { query } }
}
require { ask.p95 <= 400 ms }
"""


@pytest.mark.parametrize("text", [POOL, TWICE])
def test_a_sizing_has_the_verdict_of_the_reliable_capacity(text: str) -> None:
    model = qps.loads(text)
    solved = model.solve()
    assert solved.capacity is not None
    assert solved.reliable_capacity is not None
    reliable, nominal = solved.reliable_capacity.capacity, solved.capacity
    assert reliable is not None
    assert reliable < nominal
    for users in (reliable - 5, reliable - 1, reliable + 2, (reliable + nominal) // 2, nominal):
        found = model.size(users)
        assert found.supported
        assert found.reliability is not None
        assert found.reliability.allowed_for
        assert found.reliability.is_supported is (users <= reliable)
        assert ("(without model error)" in found.answer) is (users > reliable)


def test_the_error_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pool.qps"
    path.write_text(POOL)
    reliable = qps.loads(POOL).solve().reliable_capacity
    assert reliable is not None
    assert reliable.capacity is not None
    for users, text in (
        (reliable.capacity, "Model error included: page p99 ± 30 %"),
        (reliable.capacity + 3, "Model error not included: page p99 ± 30 %"),
    ):
        assert main(["solve", str(path), "--users", f"{users}"]) == 0
        assert text in " ".join(capsys.readouterr().out.split())


def test_an_exact_sizing_has_no_model_error() -> None:
    found = sized(SHOP, 3000)
    assert found.reliability is not None
    assert found.reliability.is_supported
    assert found.reliability.allowed_for == ()
    assert sized(SHOP + "measure m = N\nrequire { m <= 5 }\n", 300).reliability is None
