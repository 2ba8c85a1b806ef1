"""A repository of a stranger in which whatever git starts leaves a mark."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qps.cli import main

ROOT = Path(__file__).parents[2]
POSIX = pytest.mark.skipif(os.name == "nt", reason="a script with #!, links, pipes")


COMMANDS = (
    ("ci", "specs", "--base", "HEAD^", "-q"),
    ("review", "HEAD^", "specs", "-q"),
    ("history", "specs/a.qps", "-q"),
    ("diff", "HEAD^:specs/a.qps", "specs/a.qps", "-q"),
    ("report", "specs/a.qps", "-q", "--no-advice", "-o", "../page.html"),
)


def statuses() -> list[int]:
    return [int(main(command) or 0) for command in COMMANDS]
