"""Measure real servers, fit their costs, and predict what was left out: `python laboratory`.

All servers whose programs are installed are measured, on loopback, each in a folder of its own;
those that are named, alone. Everything that is started is ended by its id. `--quick` takes small
grids and short runs; `--keep` writes `results.md`. Nothing is asserted: machines differ.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "src")]

from predictions import Prediction, composed, left_out, summary  # noqa: E402 - found by the line above
from qps.measuring.accounts import MeasuringError  # noqa: E402
from qps.measuring.children import Child, running  # noqa: E402
from qps.measuring.control_groups import ControlGroup, new_group  # noqa: E402
from qps.measuring.own_network import enter_own_network  # noqa: E402
from qps.measuring.running_processes import is_listening  # noqa: E402
from qps.reports.text.table import Table  # noqa: E402
from servers import LABORATORIES, Bench, Laboratory, free_ports  # noqa: E402

_RESULTS = HERE / "results.md"
_READY = 10.0
_HEADINGS = (
    "what is predicted",
    "settings",
    "median",
    "90 %",
    "worst",
    "90 % intervals hold",
    "repetitions apart",
)


def main() -> int:
    """Measure what is asked for, and tell how well it was predicted."""
    arguments = _arguments()
    chosen = [one for one in LABORATORIES if not arguments.names or one.name in arguments.names]
    with suppress(MeasuringError):  # else among others
        enter_own_network()
    tables = Path(tempfile.mkdtemp(prefix="qps-laboratory-"))
    rows: list[tuple[str, ...]] = []
    notes = []
    for one in chosen:
        missing = [name for name in one.programs if shutil.which(name) is None]
        if missing:
            print(f"{one.name}: skipped, {', '.join(missing)} not installed", flush=True)
            continue
        print(f"{one.name}: {one.title}", flush=True)
        columns = _measure(one, tables / f"{one.name}.csv", quick=arguments.quick)
        found = _predictions(one, tables, columns)
        for title, predictions in found:
            rows.append((title, *summary(predictions)))
            if arguments.each:
                _show(predictions)
        notes.append(f"- {one.title}: {one.notes}")
        print(Table(_HEADINGS, tuple(rows), frozenset(range(1, 7))).as_text(), flush=True)
    if arguments.keep:
        _keep(rows, notes)
    print(f"the tables and all runs: {tables}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python laboratory", description=__doc__)
    names = [one.name for one in LABORATORIES]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="small grids, short runs")
    parser.add_argument("--each", action="store_true", help="tell each setting")
    parser.add_argument("--keep", action="store_true", help="write results.md")
    arguments = parser.parse_args()
    wrong = set(arguments.names) - set(names)
    if wrong:
        parser.error(f"there is no {min(wrong)}: {', '.join(names)}")
    return arguments


def _measure(one: Laboratory, table: Path, *, quick: bool) -> list[str]:
    """Start the servers, measure them, and return the columns of the load."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"qps-{one.name}-")))
        port, second = free_ports(2)
        bench = Bench(place, port, second)
        of = []
        for command in one.prepare(bench):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        servers = one.servers(bench)
        # Those behind are there first.
        for column, command in reversed(servers.items()):
            group = new_group(f"qps-{one.name}-{column}")
            own = group if isinstance(group, ControlGroup) else None
            if own is not None:
                stack.callback(own.removed)
            child = stack.enter_context(running(command, own))
            _wait(child)
            name = str(child.pid) if own is None else str(own.folder)
            of += ["--of", f"{column}={name}"]
        flags = ["--seconds", "1" if quick else "3", "--repeat", "3"]
        words = ["measure", str(table), *of, *flags, *one.words(bench, quick)]
        subprocess.run(
            [sys.executable, "-m", "qps", *words],
            check=False,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        )
    return list(servers)


def _wait(child: Child) -> None:
    until = time.monotonic() + _READY
    while not is_listening(child.pids()):
        if child.status is not None or time.monotonic() > until:
            sys.exit(f"{child.shown} does not listen{child.last_words()}")
        time.sleep(0.05)


def _predictions(
    one: Laboratory, tables: Path, columns: list[str]
) -> list[tuple[str, list[Prediction]]]:
    table = tables / f"{one.name}.csv"
    cores = os.cpu_count() or 1
    found = []
    for column in columns:
        alone = one.alone.get(column)
        if alone is None:
            name = one.title if column == "cpu" else f"{one.title}: {column}"
            found.append((name, left_out(table, column, cores)))
        elif (tables / f"{alone}.csv").exists():
            name = f"{one.title}: {column}, by {alone} alone"
            found.append((name, composed(tables / f"{alone}.csv", table, column, cores)))
    return found


def _show(predictions: list[Prediction]) -> None:
    headings = ("setting", "measured", "predicted", "±", "error")
    rows = tuple(
        (
            one.name,
            f"{100 * one.measured:.2f} %",
            f"{100 * one.predicted:.2f} %",
            "-" if one.half_width is None else f"{100 * one.half_width:.2f} %",
            f"{100 * one.error:+.0f} %",
        )
        for one in predictions
    )
    print(Table(headings, rows, frozenset(range(1, 5))).as_text())


def _keep(rows: list[tuple[str, ...]], notes: list[str]) -> None:
    about = os.uname()
    load = os.getloadavg()[0]
    head = (
        "# How well costs predict real servers\n\n"
        f"Measured by `python laboratory --keep` on {datetime.now(UTC):%d %B %Y}: "
        f"{os.cpu_count()} cores, {about.sysname} {about.release}; {load:.1f} other processes at "
        "work as it ended. Servers and generators on loopback, Debian's packages.\n\n"
        "Each setting is left out, and its processor time predicted from a fit to all others; the "
        "interval is that of one more run. A composition is predicted from its parts. Repetitions "
        "of one setting lie apart by as much as the last column says (the range of three, the "
        "median of all settings): nothing can be predicted much closer than a third of that.\n\n"
    )
    table = Table(_HEADINGS, tuple(rows), frozenset(range(1, 7))).as_markdown()
    _RESULTS.write_text(f"{head}{table}\n" + "\n".join(notes) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
