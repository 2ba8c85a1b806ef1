"""Measure real servers, fit their costs, and predict what was left out: `python laboratory`.

All servers whose programs are installed are measured, on loopback, each in a folder of its own;
or only those named. `--quick` uses small grids and short runs; `--keep` writes `results.md` and its
chart; `--anew FOLDER` predicts from the tables of an earlier run. Nothing is asserted: machines
differ.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import msgspec

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "src")]

import closed_loops  # noqa: E402 - found by the line above
import pooled_loops  # noqa: E402
from closed_loops import ClosedRun  # noqa: E402
from predictions import Prediction, composed, left_out, summary  # noqa: E402
from qps.compiler.measurement.campaigns.network_namespace import enter_own_network  # noqa: E402
from qps.compiler.measurement.campaigns.processor_accounts import MeasuringError  # noqa: E402
from qps.compiler.measurement.measured_tables import DataError  # noqa: E402
from qps.reports.text.layout.table import Table  # noqa: E402
from results import HEADINGS, HERE, LaboratoryResult, results_in, stored  # noqa: E402
from server_start import NotStartedError, started  # noqa: E402
from servers import LABORATORIES, POOLED, Laboratory  # noqa: E402

_CLOSED, _POOL = "closed", POOLED.name
_NAMES = (*(one.name for one in LABORATORIES), _CLOSED, _POOL)
_BY_NAME = {one.name: one for one in (*LABORATORIES, POOLED)}
_LOOPS = {_CLOSED: closed_loops.TITLE, _POOL: pooled_loops.TITLE}
"""Clients who wait, by what they are called."""
_BEHIND = {_CLOSED: "postgres"}
"""Laboratories that start the servers of another one."""
Found = list[tuple[str, list[Prediction]]]


def main() -> int:
    """Measure what is asked for, and tell how well it was predicted."""
    arguments = _arguments()
    if arguments.anew is None:
        with suppress(MeasuringError):  # else among others
            enter_own_network()
    tables = arguments.anew or Path(tempfile.mkdtemp(prefix="qps-laboratory-"))
    rows: list[tuple[str, ...]] = []
    # What predicts a part of a composition is measured before it.
    wanted = {
        alone
        for name in arguments.names
        for alone in (name, *(_BY_NAME[name].alone.values() if name in _BY_NAME else ()))
    }
    for name in _NAMES:
        one = _BY_NAME[_BEHIND.get(name, name)]
        if wanted and name not in wanted:
            continue
        missing = [program for program in one.programs if shutil.which(program) is None]
        if arguments.anew is not None:
            if not (tables / _file_of(name)).exists():
                continue
        elif missing:
            print(f"{name}: skipped, {', '.join(missing)} not installed", flush=True)
            continue
        print(f"{name}: {_LOOPS.get(name, one.title)}", flush=True)
        try:
            if arguments.anew is None:
                _measured(name, one, tables, quick=arguments.quick)
            found, notes = _found(name, one, tables)
        except CalledProcessError as error:
            words = [str(word) for word in error.cmd]
            print(f"{name}: {shlex.join(words)} exited with status {error.returncode}", flush=True)
            continue
        except (NotStartedError, DataError, MeasuringError) as error:
            print(f"{name}: nothing was measured: {error}", flush=True)
            continue
        own = [(title, *summary(predictions)) for title, predictions in found]
        rows += own
        if arguments.each:
            for _, predictions in found:
                _show(predictions)
        print(Table(HEADINGS, tuple(rows), frozenset(range(1, 7))).as_text(), flush=True)
        if arguments.keep:
            old = None if arguments.anew is None else results_in().get(name)
            _draw(stored(name, LaboratoryResult.of(found, notes, old), _NAMES))
    print(f"tables and runs: {tables}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python laboratory", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(_NAMES))
    parser.add_argument("--quick", action="store_true", help="small grids, short runs")
    parser.add_argument("--each", action="store_true", help="print each setting")
    parser.add_argument("--keep", action="store_true", help="write results.md")
    parser.add_argument(
        "--anew", metavar="FOLDER", type=Path, help="predict from the tables in FOLDER"
    )
    arguments = parser.parse_args()
    wrong = set(arguments.names) - set(_NAMES)
    if wrong:
        parser.error(f"there is no {min(wrong)}: {', '.join(_NAMES)}")
    return arguments


def _file_of(name: str) -> str:
    return f"{name}.json" if name in _LOOPS else f"{name}.csv"


def _measured(name: str, one: Laboratory, tables: Path, *, quick: bool) -> None:
    """Write what is measured of a part, beside the other tables."""
    if name not in _LOOPS:
        _measure(one, tables / _file_of(name), quick=quick)
        return
    cores, seconds = os.cpu_count() or 1, 1 if quick else 3
    with started(one) as there:
        runs: dict[Any, ClosedRun]
        if name == _CLOSED:
            settings = closed_loops.grid(cores, quick)
            runs = closed_loops.closed_runs(there, settings, seconds, 3)
        else:
            pooled = pooled_loops.pooled_grid(cores, quick)
            runs = pooled_loops.pooled_runs(there, pooled, seconds, 3)
    (tables / _file_of(name)).write_bytes(msgspec.json.encode(list(runs.items())))


def _found(name: str, one: Laboratory, tables: Path) -> tuple[Found, list[str]]:
    """Return what was predicted, by its titles, and what to know of it."""
    cores = os.cpu_count() or 1
    if name not in _LOOPS:
        return _predictions(one, tables), [f"{one.title}: {one.notes}"]
    text = (tables / _file_of(name)).read_bytes()
    if name == _CLOSED:
        runs = dict(msgspec.json.decode(text, type=list[tuple[closed_loops.Setting, ClosedRun]]))
        return closed_loops.predictions_of(runs, cores), closed_loops.notes_of(runs, cores)
    pooled = dict(msgspec.json.decode(text, type=list[tuple[pooled_loops.Pooled, ClosedRun]]))
    return (
        pooled_loops.pooled_predictions(pooled, cores),
        pooled_loops.pooled_notes(pooled, cores),
    )


def _measure(one: Laboratory, table: Path, *, quick: bool) -> None:
    """Start the servers, and measure them."""
    with started(one) as there:
        flags = ["--seconds", "1" if quick else str(one.seconds), "--repeat", "3"]
        words = ["measure", str(table), *there.named(), *flags, *one.words(there.bench, quick)]
        subprocess.run(
            [sys.executable, "-m", "qps", *words],
            check=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        )


def _predictions(one: Laboratory, tables: Path) -> Found:
    table = tables / f"{one.name}.csv"
    cores = os.cpu_count() or 1
    found = []
    for column in one.columns:
        alone = one.alone.get(column)
        if alone is None:
            name = one.title if column == "cpu" else f"{one.title}: {column}"
            found.append((name, left_out(table, column, cores)))
        elif (tables / f"{alone}.csv").exists():
            name = f"{one.title}: {column}, by {alone} alone"
            found.append((name, composed(tables / f"{alone}.csv", table, column, cores)))
    return found


def _draw(found: dict[str, LaboratoryResult]) -> None:
    try:
        import results_plot  # noqa: PLC0415 - by matplotlib, which only those have who work on QPS
    except ImportError:
        print("no chart: `pip install matplotlib`", flush=True)
    else:
        results_plot.draw(found, HERE / "results.svg")


def _show(predictions: list[Prediction]) -> None:
    headings = ("Setting", "Measured", "Predicted", "±", "Error")
    rows = tuple(
        (
            one.name,
            one.shown(one.measured),
            one.shown(one.predicted),
            "-" if one.half_width is None else one.shown(one.half_width),
            f"{100 * one.error:+.0f} %",
        )
        for one in predictions
    )
    print(Table(headings, rows, frozenset(range(1, 5))).as_text())


if __name__ == "__main__":
    sys.exit(main())
