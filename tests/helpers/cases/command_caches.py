"""A spec with a module and a table, commands, and the files in which values are stored."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qps.cli import main

ROOT = Path(__file__).parents[3]
HARDWARE = """
machine server { cpu 1 core, idle fit "runs.csv" }
component answer { cpu fit "runs.csv" measured on server }
"""
TABLE = "cpu in %,request/s\n20,100\n40,200\n61,300\n79,400\n"
SHOP = """
use std.net as net
use "hardware.qps" as hw
param unused = 3 request/s
users N in 1..1000
topology {
  node here = hw.server
  node user = hw.server * N
  link wan = net.e1 between user, here
}
stream requests for each user {
  traffic 1 request/s, 10 byte/request
  at user { }
  over wan
  at here { hw.answer }
}
"""


def put_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("QPS_CACHE")
    monkeypatch.setenv("QPS_CACHE_DIR", str(tmp_path / "kept"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    for name, text in {"shop.qps": SHOP, "hardware.qps": HARDWARE, "runs.csv": TABLE}.items():
        Path(name).write_text(text)
    return tmp_path / "kept"


def reported(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Return the status of a command and all that it tells."""
    capsys.readouterr()
    status = main(list(words))
    return status, *capsys.readouterr()


COUNTED = """
import sys
from qps.commands.cache import spec_cache as kept_specs
from qps.compiler.lower import lowering
made = []
def noting(module, name):
    real = getattr(module, name)
    setattr(module, name, lambda *a, **more: made.append(name) or real(*a, **more))
noting(kept_specs, "check_source")
noting(lowering, "_load_graph")
from qps.cli import main
main(sys.argv[1:])
print("checked" if "check_source" in made else "taken", end=", ")
print("lowered" if made.count("_load_graph") > 1 else "taken")  # one graph is never kept
"""


SOLVE = ("solve", "--no-advice", "shop.qps")


def by_another(root: Path, *words: str) -> str:
    """Return what a process whose qps stands in a folder took, and what it made."""
    environment = os.environ | {"PYTHONPATH": str(root)}
    command = [sys.executable, "-c", COUNTED, *words]
    output = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=True, timeout=600
    )
    return output.stdout.splitlines()[-1]
