"""A small spec, with claims that pass and fail, and a command with what it prints."""

from __future__ import annotations

import pytest

from qps.cli import main

SMALL = """
users N in 1..100
machine box { cpu 1 core }
component work { cpu 10 ms/packet }
param pace = 1 packet/s
topology { node host = box }
stream flow { traffic N * pace; at host { work } }
scenario quick { pace = 4 packet/s }
"""
CLAIMS = 'expect a { largest_acceptable == 100; source "arithmetic" }\n'
WRONG_CLAIM = 'expect b { host.cpu.load ~ 20 % within 1 % with N = 10; source "a guess" }\n'


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Return exit status, standard output and standard error."""
    status = main(arguments)
    printed = capsys.readouterr()
    return status, printed.out, printed.err
