"""Run the scripts of the pages in Node, which is asked for by their unit tests alone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NODE = shutil.which("node")

MISSING = "Node is not installed: apt-get install nodejs npm"

needs_node = pytest.mark.skipif(NODE is None, reason=MISSING)


def run_module(text: str) -> str:
    """Return what a module writes; it may import others by their path from the checkout."""
    assert NODE is not None
    command = (NODE, "--input-type=module", "--eval", text)
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=300
    ).stdout
