"""What all benchmarks share: the machine they ran on, times, processes, tables."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import perf_counter

import psutil

from qps.reports.text.layout.table import Table

ROOT = Path(__file__).parents[1]
RUNS = 5
_EVERY = 0.05


@dataclass(frozen=True)
class TimingTable:
    """What was measured, as a table; the first column says of what, the others are numbers."""

    title: str
    note: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def as_markdown(self) -> str:
        """Return a section in Markdown."""
        table = Table(self.headings, self.rows, frozenset(range(1, len(self.headings))))
        return f"## {self.title}\n\n{table.as_markdown()}\n{self.note}\n"


def machine() -> str:
    """Return what the machine is, and what else it does at the moment."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "pyarrow", "sympy"))
    memory = psutil.virtual_memory().total / 2**30
    load = os.getloadavg()[0]
    return (
        f"{_processor()}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GB, "
        f"{platform.system()} {platform.release()}; Python {platform.python_version()}, "
        f"{libraries}; load average {load:.1f} at the start"
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def busy() -> float:
    """Return the processor time in s of this process and of those that it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(work: Callable[[], object], runs: int = RUNS) -> tuple[float, object]:
    """Return the median time of some work in ms, and its result."""
    times = []
    for _ in range(runs):
        start = perf_counter()
        result = work()
        times.append((perf_counter() - start) * 1000)
    return median(times), result


def in_turns(works: dict[str, Callable[[], object]], runs: int = RUNS) -> dict[str, float]:
    """Return the median time of each work in ms; they take turns, so that all meet the same."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            start = perf_counter()
            work()
            times[name].append((perf_counter() - start) * 1000)
    return {name: median(found) for name, found in times.items()}


@dataclass(frozen=True)
class Ran:
    """What a whole process took: s by the clock, s of processors, the most MB at a time."""

    seconds: float
    busy: float
    megabytes: float


def ran(arguments: Sequence[str], bytecode: Path) -> Ran:
    """Run Python in a process of its own, with the processes that it starts.

    `bytecode` keeps what is compiled, as an installed package has it. Memory that processes
    share is counted once.
    """
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONPYCACHEPREFIX": str(bytecode),
        "QPS_CACHE": "off",
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start, before = perf_counter(), busy()
    process = subprocess.Popen(
        [sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL
    )
    is_over, found = Event(), [0.0]
    watch = Thread(target=_watched, args=(process.pid, is_over, found))
    watch.start()
    status = process.wait()
    seconds = perf_counter() - start
    is_over.set()
    watch.join()
    if status:
        raise RuntimeError(f"{arguments} ended with status {status}")
    return Ran(seconds, busy() - before, found[0])


@dataclass(frozen=True)
class Used:
    """What a process and those that it waited for used: s of processors, the most MB of one.

    `is_late` says that it was broken off; `text` is what it printed.
    """

    seconds: float
    megabytes: float
    is_late: bool
    text: str


def used(
    arguments: Sequence[str], limit: int, folder: Path | None = None, kept: Path | None = None
) -> Used:
    """Run Python in a process of its own, for so many s of processor at the most.

    Statuses 0 and 1 are answers. Bytecode is kept where it always is, as an installed package
    has it; what commands keep for the next one is in `kept`, and goes away where that is None.
    """
    if kept is None:
        with tempfile.TemporaryDirectory(prefix="qps-kept-") as new:
            return used(arguments, limit, folder, Path(new))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))

    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "OPENBLAS_NUM_THREADS": "1",
        "QPS_CACHE_DIR": str(kept),
    }
    # An installed package has its bytecode: without, every start compiles all of it again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=limited,  # noqa: PLW1509 - no other thread runs here
        cwd=folder,
        text=True,
    )
    assert process.stdout is not None
    text = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode > 1:
        raise RuntimeError(f"{arguments} ended with status {process.returncode}")
    is_late = process.returncode < 0
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, is_late, text)


def _watched(pid: int, is_over: Event, found: list[float]) -> None:
    """Note the most memory that a process and its children have at a time."""
    while not is_over.wait(_EVERY):
        try:
            root = psutil.Process(pid)
            family = [root, *root.children(recursive=True)]
            now = sum(one.memory_full_info().pss for one in family)
        except psutil.Error:
            continue
        found[0] = max(found[0], now / 1e6)


def bytecode_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for bytecode that goes away in the end."""
    return tempfile.TemporaryDirectory(prefix="qps-bytecode-")
