"""Traced systems: `python laboratory/traced_systems.py --python PYTHON [NAME…]`.

Each is started on quotas of its own (control groups of Linux), saturated by clients without think
time, and started anew for runs at up to 40 % of what it then served. From the traces and the CPU of
these runs alone, `qps observe traces` writes a spec; the questions in it are answered as the owner
of the system would (`answers`), and `qps solve` predicts the capacity. Nothing is asserted.
`--keep` writes `traced_systems.md`; `--anew FOLDER` predicts from an earlier run.

PYTHON has opentelemetry-sdk and psycopg[binary,pool]; Go builds the catalog.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "src")]

from cpu_quotas import CpuQuotas  # noqa: E402 - found by the line above
from qps.compiler.measurement.traces.call_graph import TracedCall  # noqa: E402
from qps.compiler.measurement.traces.observed_traces import observed_traces  # noqa: E402
from server_start import NotStartedError  # noqa: E402
from servers import free_ports  # noqa: E402
from traced_designs import DESIGNS, TracedDesign  # noqa: E402
from traced_results import CountedCall, TracedResult, keep, shown_cores  # noqa: E402

HERE = Path(__file__).parent / "traced"
_LEVELS = (0.1, 0.2, 0.3, 0.4)
_SECONDS = {"low": 40.0, "full": 25.0, "warm": 5.0, "window": 5.0}
_CLIENTS = 12
_SAMPLES = 0.25


class RunningSystem(Struct, frozen=True, kw_only=True):
    """A system that runs: its quotas, where it is asked, and where it writes spans."""

    design: TracedDesign
    quotas: CpuQuotas
    port: int
    folder: Path
    python: str


@contextmanager
def running(
    design: TracedDesign, quotas: CpuQuotas, folder: Path, python: str
) -> Iterator[RunningSystem]:
    """Start the services of a system, those behind first; whatever happens, they are ended."""
    ports = dict(zip(design.services, free_ports(len(design.services)), strict=True))
    with ExitStack() as stack:
        stack.callback(quotas.end)
        pool = design.database(quotas, folder, stack) if design.database else None
        for name, service in reversed(design.services.items()):
            settings = {
                **service.settings,
                "name": name,
                "port": ports[name],
                "folder": str(folder),
                "others": ports,
            }
            if pool is not None and "pool" in settings:
                settings["pool"] = [pool, settings["pool"]]
            path = folder / f"{name}.settings.json"
            path.write_bytes(msgspec.json.encode(settings))
            program = service.program(python, HERE, folder)
            quotas.start(name, [*program, str(path)], service.quota, folder / f"{name}.log")
            _wait(ports[name], name, folder)
        yield RunningSystem(
            design=design,
            quotas=quotas,
            port=ports[design.front],
            folder=folder,
            python=python,
        )


def _wait(port: int, name: str, folder: Path) -> None:
    import socket  # noqa: PLC0415 - for this alone

    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise NotStartedError(f"{name} does not listen: {(folder / f'{name}.log').read_text()[-500:]}")


Answer = tuple[float, float, str]


def loaded(there: RunningSystem, seconds: float, **how: float) -> tuple[list[Answer], list[Answer]]:
    """Send requests; return answers (when, how long, path), and CPU (when, s so far, service)."""
    settings = there.folder / "load.settings.json"
    content = {"port": there.port, "mix": there.design.mix, "keys": 200, "seconds": seconds, **how}
    settings.write_bytes(msgspec.json.encode(content))
    used: list[Answer] = []
    with tempfile.TemporaryFile("w+") as out:
        command = [there.python, str(HERE / "traced_load.py"), str(settings)]
        load = there.quotas.start("load", command, 0.5, None, out)
        while load.poll() is None:
            now = time.time()
            used += [(now, there.quotas.used(name), name) for name in there.design.accounts]
            time.sleep(_SAMPLES)
        if load.returncode:
            raise NotStartedError(f"the load ended with {load.returncode}")
        out.seek(0)
        lines = [line.split() for line in out]
    return [(float(at), float(took), path) for at, took, path in lines], used


def served(folder: Path) -> dict[tuple[str, str], list[float]]:
    """Return when each service answered each operation, by its access log."""
    found: dict[tuple[str, str], list[float]] = {}
    for path in folder.glob("*.access.log"):
        name = path.name.removesuffix(".access.log")
        for line in path.read_text(encoding="utf-8").splitlines():
            at, operation = line.split()
            service = (name, f"GET {operation}")
            if operation == "database":
                service = ("postgresql shop", "SELECT")
            found.setdefault(service, []).append(float(at))
    return found


def cpu_table(used: Sequence[Sequence[Answer]], folder: Path) -> str:
    """Return the table that `--cpu` reads, by windows of each run."""
    by_service: dict[str, list[float]] = {}
    for (name, _), times in served(folder).items():
        by_service.setdefault(name, []).extend(times)
    lines = ["time,service,cpu (cores),requests/s\n"]
    for run in used:
        for name in dict.fromkeys(name for _, _, name in run):
            samples = [(at, seconds) for at, seconds, one in run if one == name]
            start = 0
            for end in range(1, len(samples)):
                took = samples[end][0] - samples[start][0]
                if took < _SECONDS["window"]:
                    continue
                cores = (samples[end][1] - samples[start][1]) / took
                first, last = samples[start][0], samples[end][0]
                rate = sum(first < at <= last for at in by_service.get(name, ())) / took
                lines.append(f"{first:.1f},{name},{cores:.6f},{rate:.4f}\n")
                start = end
    return "".join(lines)


def calls_of(files: Sequence[Path], folder: Path) -> tuple[int, int, list[CountedCall]]:
    """Return the numbers of traces and spans, and each call as spans and as services count it."""
    graph = observed_traces(files)
    counts = {key: len(times) for key, times in served(folder).items()}
    found: list[CountedCall] = []
    todo: list[TracedCall] = [route.root for route in graph.routes]
    while todo:
        caller = todo.pop()
        pairs = {
            key for one in caller.overlaps if one.is_together for key in (one.first, one.second)
        }
        for step in caller.steps:
            for called in (one for group in step.together for one in group):
                todo.append(called)
                found.append(
                    CountedCall(
                        caller=" ".join(caller.key),
                        called=" ".join(called.key),
                        counted=counts.get(called.key, 0) / counts[caller.key],
                        observed=called.per_request,
                        together="together" if called.key in pairs else "in turn",
                    )
                )
    return graph.traces, graph.spans, found


def qps(*words: str, folder: Path) -> str:
    """Return what a command of QPS prints."""
    print(f"$ qps {' '.join(words)}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "qps", *words],
        check=False,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    (folder / "qps.log").open("a").write(f"$ qps {' '.join(words)}\n{done.stdout}{done.stderr}\n")
    if done.returncode not in (0, 1):
        raise NotStartedError(done.stderr[-2000:])
    return done.stdout


def measured(design: TracedDesign, folder: Path, python: str) -> None:
    """Saturate a system, and run it at up to 40 % of what it then serves; leave all in a folder."""
    full, low = folder / "full", folder / "low"
    full.mkdir()
    low.mkdir()
    with running(design, CpuQuotas("qps-traced"), full, python) as there:
        loaded(there, _SECONDS["warm"], clients=_CLIENTS, seed=1)
        answers, used = loaded(there, _SECONDS["full"], clients=_CLIENTS, seed=2)
    start, end = used[0][0] + 2, answers[0][0] + _SECONDS["full"]
    within = [at for at, _, _ in answers if start < at <= end]
    rate = len(within) / (end - start)
    cores = {}
    for name in design.accounts:
        own = [(at, seconds) for at, seconds, one in used if one == name and start < at <= end]
        cores[name] = (own[-1][1] - own[0][1]) / (own[-1][0] - own[0][0])
    print(f"{design.name}: {rate:.2f} requests/s at most; cores {shown_cores(cores)}", flush=True)
    runs, rates = [], []
    with running(design, CpuQuotas("qps-traced"), low, python) as there:
        loaded(there, _SECONDS["warm"], rate=rate * 0.2, seed=3)
        for number, level in enumerate(_LEVELS):
            answers, used = loaded(there, _SECONDS["low"], rate=level * rate, seed=4 + number)
            runs.append(used)
            rates.append(len(answers) / _SECONDS["low"])
    (folder / "cpu.csv").write_text(cpu_table(runs, low), encoding="utf-8")
    about = {"measured": rate, "used": cores, "busiest": max(rates) / rate}
    (folder / "measured.json").write_bytes(msgspec.json.encode(about))


def predicted(design: TracedDesign, folder: Path) -> TracedResult:
    """Return what the runs at low load predict, beside what was measured."""
    about: dict[str, Any] = msgspec.json.decode((folder / "measured.json").read_bytes())
    files = sorted((folder / "low").glob("*.traces.json"))
    names = [str(one.relative_to(folder)) for one in files]
    words = ["observe", "traces", *names, "--cpu", "cpu.csv", "-o", "observed.qps"]
    (folder / "observed.qps").unlink(missing_ok=True)
    qps(*words, folder=folder)
    text = (folder / "observed.qps").read_text(encoding="utf-8")
    (folder / "system.qps").write_text(design.answered(text), encoding="utf-8")
    qps("test", "system.qps", folder=folder)
    solved = msgspec.json.decode(qps("solve", "system.qps", "--format", "json", folder=folder))
    (folder / "solved.json").write_bytes(msgspec.json.format(msgspec.json.encode(solved), indent=1))
    traces, spans, calls = calls_of(files, folder / "low")
    rates = [
        line.split(" = ")[1].split()[0]
        for line in text.splitlines()
        if "_rate " in line and line.startswith("param")
    ]
    per_user = sum(map(float, rates)) / 100
    least, nominal, most = _capacities(solved)
    machine = os.uname()
    return TracedResult(
        date=f"{datetime.now(UTC):%d %B %Y}",
        machine=f"{os.cpu_count()} cores, {machine.sysname} {machine.release}",
        traces=traces,
        spans=spans,
        calls=calls,
        busiest=about["busiest"],
        measured=about["measured"],
        used=about["used"],
        predicted=nominal * per_user,
        least=least * per_user,
        most=most * per_user,
        bottleneck=solved["bottleneck"]["resource"],
    )


def _capacities(solved: Any) -> tuple[float, float, float]:
    """Return the capacity with nominal inputs, between the ends of its 90 % interval."""
    found = solved["capacity_interval"] or {"least": solved["capacity"], "most": solved["capacity"]}
    return float(found["least"]), float(solved["capacity"]), float(found["most"])


def main() -> int:
    """Measure what is asked for, and print how well it was predicted."""
    parser = argparse.ArgumentParser(
        prog="python laboratory/traced_systems.py", description=__doc__
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(DESIGNS))
    parser.add_argument("--python", default=sys.executable, help="has opentelemetry-sdk, psycopg")
    parser.add_argument("--keep", action="store_true", help="write traced_systems.md")
    parser.add_argument("--quick", action="store_true", help="short runs")
    parser.add_argument("--anew", type=Path, metavar="FOLDER", help="predict from an earlier run")
    arguments = parser.parse_args()
    if arguments.quick:
        _SECONDS.update(low=3.0, full=5.0, warm=1.0, window=1.0)
    place = arguments.anew or Path(tempfile.mkdtemp(prefix="qps-traced-"))
    place.chmod(0o755)
    for name in arguments.names or DESIGNS:
        folder = place / name
        if arguments.anew is None:
            folder.mkdir()
            measured(DESIGNS[name], folder, arguments.python)
        result = predicted(DESIGNS[name], folder)
        print(msgspec.json.format(msgspec.json.encode(result), indent=1).decode(), flush=True)
        if arguments.keep:
            keep(name, result)
    print(f"runs: {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
