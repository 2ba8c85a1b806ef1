"""Workers that raise, end, are killed or never answer, and what is left where all are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from multiprocessing import active_children
from pathlib import Path

import psutil
import pytest

from processes.faulty_worker import badly
from qps import worker_processes
from qps.cli import main
from qps.simulation import replications
from qps.supervised_processes import EndingSignal, ExitStatus, ProcessEnding
from qps.worker_processes import WorkerEndedError, Workers, WorkersLostError, WorkerTraceback

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_results_are_those_of_their_tasks(start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_processes, "START", start)
    with Workers([badly] * 2) as workers:
        found = workers.results([("say", number) for number in range(5)])
        assert [number for _, _, number in found] == [*range(5)]
        assert len({pid for _, pid, _ in found} | {os.getpid()}) == 3
        ticks: list[int] = []
        pids = [pid for _, pid in workers.each("say", tick=lambda: ticks.append(1))]
        assert pids == [pid for _, pid in workers.each("say", tick=lambda: None)]
        assert ticks
    assert not set(pids) & {one.pid for one in active_children()}


def test_what_a_worker_raises_is_raised_here_with_its_traceback() -> None:
    with Workers([badly]) as workers:
        with pytest.raises(KeyError) as raised:
            workers.results([("fail", "why", 3)])
        assert raised.value.args == ("why", 3)
        assert isinstance(raised.value.__cause__, WorkerTraceback)
        assert "raise KeyError(*arguments)" in str(raised.value.__cause__)
        with pytest.raises(RuntimeError, match="UnsendableError: first and second") as raised:
            workers.results([("fail unsendably",)])
        assert "faulty_worker.py" in str(raised.value.__cause__)
        with pytest.raises(Exception, match="pickle"):
            workers.results([("answer unsendably",)])
        assert workers.results([("say",)])[0][0] == 4  # none of them has ended it


def test_a_function_that_cannot_be_made_is_raised() -> None:
    with Workers([unmade]) as workers, pytest.raises(ZeroDivisionError):
        workers.results([()])


def unmade() -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("what", "ending", "text"),
    [("end", ExitStatus(4), "with status 4"), ("be killed", EndingSignal(9), "by SIGKILL")],
)
def test_a_worker_that_ends_is_reported_with_its_task_and_replaced(
    what: str, ending: ProcessEnding, text: str
) -> None:
    with Workers([badly] * 2) as workers:
        futures = [workers.submit(*task) for task in [(what, 7), ("say", 1), ("say", 2)]]
        while not all(future.done() for future in futures):
            workers.wait()
        error = futures[0].exception()
        assert isinstance(error, WorkerEndedError)
        assert (error.ending, error.task) == (ending, (what, 7))
        assert str(error) == f"a worker process ended {text} at {(what, 7)}"
        assert [future.result()[-1] for future in futures[1:]] == [1, 2]
        assert len(workers.results([("say", number) for number in range(4)])) == 4


def test_a_worker_that_has_what_others_lack_is_not_replaced() -> None:
    with Workers([badly] * 2) as workers:
        pids = [pid for _, pid in workers.each("say", tick=lambda: None)]
        os.kill(pids[1], signal.SIGKILL)
        with pytest.raises(WorkerEndedError, match="SIGKILL"):
            workers.each("say", tick=lambda: None)


def test_one_that_never_answers_is_not_waited_for_and_ended() -> None:
    before = set(active_children())
    with Workers([badly] * 2) as workers:
        late, soon = workers.submit("take for ever"), workers.submit("say")
        while not soon.done():
            workers.wait()
        assert workers.wait(0) == []
        assert not late.done()
    assert set(active_children()) == before


def test_processes_that_cannot_be_started_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    real, started = worker_processes.WorkerProcess, []

    def scarce(*arguments: object) -> object:
        if started:
            raise BlockingIOError("Resource temporarily unavailable")
        started.append(real(*arguments))  # type: ignore[arg-type]
        return started[0]

    monkeypatch.setattr(worker_processes, "WorkerProcess", scarce)
    with pytest.raises(WorkersLostError, match="cannot be started: Resource temporarily"):
        Workers([badly] * 2)
    assert started[0].process.exitcode == -9


PARENT = """
from processes.faulty_worker import badly
from qps.worker_processes import Workers
with Workers([badly] * 3) as workers:
    print(*[pid for _, pid in workers.each("say", tick=lambda: None)], flush=True)
    workers.submit("take for ever")
    while True:
        workers.wait()
"""


def test_all_end_with_the_one_that_started_them() -> None:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        workers = [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]
        parent.kill()
        assert len(workers) == 3
    assert psutil.wait_procs(workers, timeout=400)[1] == []


def test_a_simulation_whose_process_is_killed_is_no_fault_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def killed(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(worker_processes, "START", "fork")
    monkeypatch.setattr(replications.SimulationRun, "advance", killed)
    spec = str(ROOT / "specs" / "textbook" / "courses" / "wikipedia_md1.qps")
    assert main(["simulate", spec, "--workers", "2", "-q"]) == 2
    errors = capsys.readouterr().err
    assert "a worker process ended by SIGKILL at ('advance'" in errors
    assert "memory is the most common cause" in errors
