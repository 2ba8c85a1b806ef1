"""Plans that are broken off and resumed, from files that are theirs, damaged, or of others."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.cases.plan_pages import GROWING
from qps.cli import main
from qps.commands.cache import plan_progress
from qps.solver.cheapest import cheapest_configuration
from qps.solver.cheapest.branch_and_bound import BranchAndBound, Chosen
from qps.solver.cheapest.cheapest_configuration import DesignRequest
from qps.solver.cheapest.search_record import DesignOutcome

TWO_TIERS = """
users N in 1..100_000
machine small { cpu 2 core, queueing mmc; price 60 $/month }
machine large { cpu 8 core, queueing mmc; price 210 $/month }
network lan { switched; rate 10 Gbit/s; queueing none }
component serve { cpu 8 ms/request }
component read { cpu 5 ms/request }
topology { node web = small * 2; node db = small * 2; link net = lan between all }
stream page for each user {
  traffic 0.1 request/s, 1 kB/request
  at web { serve }
  over net
  at db { read }
}
require { page.latency <= 40 ms }
choose { web in [small * 1..40, large * 1..10]; db in [small * 1..40, large * 1..10] }
"""
CERTAIN = """
users N in 1..100_000
machine vm { cpu 2 core; price 60 $/month }
component serve { cpu 8 ms/request +- 20 % }
topology { node web = vm * 2 }
stream page for each user { traffic 0.1 request/s; at web { serve } }
require { web.cpu.utilization <= 60 % with 95 % certainty }
choose { web in [vm * 1..40] }
"""
NOBODY = TWO_TIERS.replace("40 ms", "9 ms")

CASES = {
    "population": (TWO_TIERS, ["--users", "2000"]),
    "budget": (TWO_TIERS, ["--budget", "700 $/month"]),
    "nobody": (NOBODY, ["--users", "2000"]),
    "forecast": (GROWING, ["--users", "2027-04"]),
    "certainty": (CERTAIN, ["--users", "2000"]),
}
COMMAND = ["plan", "shop.qps", "--users", "2000", "--resume", "plan.progress"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.qps").write_text(TWO_TIERS, encoding="utf-8")


class _Evaluations:
    """Counts what is evaluated, and interrupts one evaluation."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, last: int | None = None) -> None:
        self.done: list[tuple[str, Chosen]] = []
        whole = cheapest_configuration.outcome_of

        def outcome_of(request: DesignRequest, chosen: Chosen) -> DesignOutcome:
            if len(self.done) == last:
                raise KeyboardInterrupt
            outcome = whole(request, chosen)
            self.done.append((request.evaluation_question, chosen))
            return outcome

        monkeypatch.setattr(cheapest_configuration, "outcome_of", outcome_of)


@pytest.mark.parametrize("name", CASES)
def test_a_plan_interrupted_anywhere_ends_as_one_that_ran_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output is the same byte for byte, and nothing that was evaluated is again."""
    text, flags = CASES[name]
    Path("shop.qps").write_text(text, encoding="utf-8")
    command = ["plan", "shop.qps", *flags, "--format", "json"]
    with monkeypatch.context() as patch:
        every = _Evaluations(patch).done
        status = main(command)
    whole = capsys.readouterr().out
    count = len(every)
    assert count
    for last in sorted({0, 1, count // 2, count - 1}):
        with monkeypatch.context() as patch:
            before = _Evaluations(patch, last)
            assert main([*command, "--resume", "plan.progress"]) == 130
        printed = capsys.readouterr()
        assert not printed.out
        assert f"interrupted: {last:,} evaluations" in printed.err
        with monkeypatch.context() as patch:
            after = _Evaluations(patch)
            assert main([*command, "--resume", "plan.progress"]) == status
        assert capsys.readouterr().out == whole
        assert before.done + after.done == every
        assert not list(Path().glob("plan.progress*"))


def test_a_plan_may_be_interrupted_often_and_while_boxes_are_divided(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A search that has ended is not run again: each run goes further than the one before."""
    step, steps = BranchAndBound.step, list[int]()
    most = 10**6

    def stepped(search: BranchAndBound) -> Chosen | None:
        if len(steps) == most:
            raise KeyboardInterrupt
        steps.append(1)
        return step(search)

    monkeypatch.setattr(BranchAndBound, "step", stepped)
    assert main(COMMAND[:-2]) == 0
    whole = capsys.readouterr().out
    most, stored, status = len(steps) // 3, list[int](), 130
    for _ in range(6):
        steps.clear()
        status = main(COMMAND)
        if status == 0:
            break
        content = json.loads(Path("plan.progress").read_bytes())["content"]
        stored.append(len(content["searches"]))
    assert status == 0
    assert len(stored) > 1
    assert stored == sorted(set(stored))
    assert capsys.readouterr().out == whole


def test_a_file_of_another_plan_is_refused_with_what_differs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _interrupt(monkeypatch)
    stored = Path("plan.progress").read_bytes()
    capsys.readouterr()
    for changed in (
        ["--users", "2001"],
        ["--users", "2000", "--set", "serve.cpu.request=9 ms/request"],
    ):
        assert main(["plan", "shop.qps", *changed, "--resume", "plan.progress"]) == 2
        error = capsys.readouterr().err
        assert "it belongs to the plan with `--users 2000`" in error
        assert "delete it to start again" in error
    with monkeypatch.context() as patch:
        patch.setattr(plan_progress, "build", lambda: "qps 0.0.1")
        assert main(COMMAND) == 2
    assert "and this is qps 0.0.1" in capsys.readouterr().err
    Path("shop.qps").write_text(TWO_TIERS.replace("8 ms", "9 ms"), encoding="utf-8")
    assert main(COMMAND) == 2
    assert "the spec has changed since" in capsys.readouterr().err
    assert Path("plan.progress").read_bytes() == stored
    Path("shop.qps").write_text(TWO_TIERS, encoding="utf-8")
    assert main(COMMAND) == 0


def test_a_damaged_file_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cut off, with another letter anywhere, of other types, or of another program."""
    _interrupt(monkeypatch)
    path = Path("plan.progress")
    stored = path.read_bytes()
    at = stored.index(b"supports")
    damaged = [
        stored[:-1],
        stored[: len(stored) // 2],
        stored[:at] + b"S" + stored[at + 1 :],
        stored.replace(b'"checksum":"', b'"checksum":"0', 1),
        b"",
        b"[" * 100_000,
        b'{"origin": 3}',
        b"\xff\xfe",
    ]
    for content in damaged:
        path.write_bytes(content)
        capsys.readouterr()
        assert main(COMMAND) == 2, content[:80]
        error = capsys.readouterr().err
        assert "is damaged" in error
        assert "delete it to start again" in error
        assert path.read_bytes() == content


def test_a_sealed_file_with_what_cannot_be_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A configuration of options that there are not, and an outcome that there is not."""
    _interrupt(monkeypatch)
    path = Path("plan.progress")
    stored = json.loads(path.read_bytes())
    of_none = json.loads(json.dumps(stored["content"]))
    found = next(one for one in of_none["searches"] if one["found"] is not None)
    found["found"] = [10_000, 0]
    unknown = json.loads(json.dumps(stored["content"]))
    unknown["evaluations"][0]["outcome"] = "perhaps"
    for content in (of_none, unknown, {"evaluations": []}):
        text = _compact(content)
        checksum = hashlib.sha256(_compact(stored["origin"]) + text).hexdigest()
        path.write_bytes(_compact({**stored, "checksum": checksum, "content": content}))
        capsys.readouterr()
        assert main(COMMAND) == 2
        assert "is damaged" in capsys.readouterr().err


def test_no_file_is_overwritten_that_is_not_of_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    for flags, error in (
        (["--resume", "shop.qps"], "would overwrite the input file"),
        (["--resume", "there/is/none"], "is not a folder"),
        (["--resume", "."], "is not a file"),
        (["--resume", "a.html", "-o", "a.html"], "name the same file"),
    ):
        assert main(["plan", "shop.qps", "--users", "2000", *flags]) == 2
        assert error in capsys.readouterr().err
    assert Path("shop.qps").read_text(encoding="utf-8") == TWO_TIERS


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be ended in order there")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_plan_that_a_signal_has_ended_is_resumed(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also one that could store nothing as it was killed: the file is written as it goes on."""
    assert main(COMMAND[:-2]) == 0
    whole = capsys.readouterr().out
    program = (
        "import sys, time\n"
        "from qps.cli import main\n"
        "from qps.commands.cache import plan_progress\n"
        "from qps.solver.cheapest import cheapest_configuration as one\n"
        "plan_progress._PAUSE = 0.0\n"
        "whole, count = one.outcome_of, [0]\n"
        "def slow(*request):\n"
        "    count[0] += 1\n"
        "    time.sleep(1e6 if count[0] == 4 else 0)\n"
        "    return whole(*request)\n"
        "one.outcome_of = slow\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, *COMMAND])
    while not _evaluations(Path("plan.progress")) >= 3:
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, number)
    ended = process.wait()
    assert ended == (143 if number is signal.SIGTERM else -number)
    assert _evaluations(Path("plan.progress")) == 3
    assert main(COMMAND) == 0
    assert capsys.readouterr().out == whole


def _evaluations(path: Path) -> int:
    """Return how many evaluations are stored; what is there is whole at any time."""
    if not path.exists():
        return 0
    return len(json.loads(path.read_bytes())["content"]["evaluations"])


def _interrupt(monkeypatch: pytest.MonkeyPatch, last: int = 5) -> None:
    with monkeypatch.context() as patch:
        _Evaluations(patch, last)
        assert main(COMMAND) == 130


def _compact(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()
