"""How long whole processes take from a cold start."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from timings import ROOT, TimingTable, bytecode_folder, in_turns, ran

_STARTS = 7


def cold_starts() -> TimingTable:
    """Return how long commands on a small spec take, beside Python itself and sympy."""
    with tempfile.TemporaryDirectory() as folder, bytecode_folder() as bytecode:
        small = Path(folder) / "small.qps"
        small.write_text((ROOT / "stdlib" / "_start.qps.txt").read_text(encoding="utf-8"))
        commands = {
            "python -c pass": ["-c", "pass"],
            "python -c 'import sympy'": ["-c", "import sympy"],
            "qps check small.qps": ["-m", "qps", "check", "-q", str(small)],
            "qps solve small.qps": ["-m", "qps", "solve", "-q", str(small)],
        }
        works = {name: partial(ran, command, Path(bytecode)) for name, command in commands.items()}
        in_turns(works, 1)  # bytecode is kept for all of them, as an installed qps has it
        times = in_turns(works, _STARTS)
    bare = times["python -c pass"]
    return TimingTable(
        "Cold starts",
        f"Whole processes, in ms: the median of {_STARTS}, run in turns.",
        ("command", "ms", "times python"),
        tuple((name, f"{took:.0f}", f"{took / bare:.1f}") for name, took in times.items()),
    )
